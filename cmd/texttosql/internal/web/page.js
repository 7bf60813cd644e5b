'use strict';
(() => {

// Texts of models, databases and persons become text nodes and attributes that hold text. Nothing is parsed as markup;
// the content policy refuses it (trusted types).

const $ = (id) => document.getElementById(id);

function made(e, props, children) {
	for (const [name, value] of Object.entries(props)) {
		if (value === undefined || value === null || value === false) continue;
		if (typeof value === 'function') e.addEventListener(name, value);
		else e.setAttribute(name, value === true ? '' : value);
	}
	e.append(...children.flat().filter((c) => c !== undefined && c !== null && c !== false));
	return e;
}
const el = (tag, props = {}, ...children) => made(document.createElement(tag), props, children);
const draw = (tag, props = {}, ...children) => made(document.createElementNS('http://www.w3.org/2000/svg', tag), props, children);
const button = (text, click, props = {}) => el('button', {type: 'button', click, ...props}, text);
const more = (title, ...children) => el('details', {class: 'more'}, el('summary', {}, title), ...children);
let ids = 0;
const newID = (stem) => stem + '-' + ++ids;

// ---- What is shown.

let page = {kind: '', id: ''}; // 'new', 'talk' or 'schema'
let talk = null; // the conversation of the page
let stream = null; // its events
let told = null; // the last news of the stream
let mine = ''; // the conversation in which this tab did something: the answer to it gets the focus
let read = 0; // counts the reads of the conversation, of which the last counts
let engine = ''; // the name of the database's engine
let lost = false; // the conversation could not be read, and the page says so
const again = new Set(); // answers whose rows were asked for again

const words = {
	schema: 'Reading the tables', profile: 'Looking at stored values', link: 'Choosing tables', tables: 'Choosing tables',
	joins: 'Joining the tables', sample: 'Asking the model', statements: 'Checking the statements', check: 'Checking the statements',
	repair: 'Repairing a statement', refine: 'Repairing a statement', vote: 'Counting the votes', judge: 'Judging between answers',
	ask: 'Preparing a choice', rows: 'Reading the rows',
};
const states = {running: 'being answered', waiting: 'waits for your choice', failed: 'no answer', stopped: 'stopped'};

function say(text) { $('status').textContent = text; }

function complain(e) {
	const p = $('problem');
	p.replaceChildren(e ? e.error : '');
	if (e && e.code === 'offline') p.replaceChildren('It was not sent. Send it again when the server is back.');
	if (e && e.code === 'stale') p.append(el('br'), button('Ask again as things are now', () => act('restart')));
	p.hidden = !e;
}

// ---- The interface of the server.

async function api(path, body, method) {
	let reply;
	try {
		reply = await fetch('/api/' + path, body === undefined && !method ? {} : {
			method: method || 'POST', headers: {'Content-Type': 'application/json', 'X-Texttosql': '1'}, body: body && JSON.stringify(body),
		});
	} catch {
		away(true);
		throw {code: 'offline', error: gone};
	}
	const text = await reply.text();
	let value;
	try {
		value = JSON.parse(text);
	} catch {
		value = {code: 'http', error: text.trim() || 'The server answered ' + reply.status + '.'};
	}
	if (reply.ok) return value;
	if (reply.status === 401 && path !== 'login') gate();
	throw value;
}

// ---- Whether the server is there.

const gone = 'The server does not answer. What it was doing is kept; this page goes on when it is back.';
let heard = Date.now(), missing = false;

function away(now) {
	if (!now) heard = Date.now();
	if (now === missing) return;
	missing = now;
	$('lost').textContent = now ? gone : '';
	$('lost').hidden = !now;
	if (now) return;
	complain(null);
	say('The server is back');
	if (page.kind === 'talk') { load(); listen(); } else if (page.kind !== 'gate') route();
}

// A stream beats each second; where none is open, or none beats, the server is asked whether it lives.
let asking = false;
setInterval(async () => {
	if (asking || document.visibilityState === 'hidden' || Date.now() - heard < 1500) return;
	asking = true;
	try {
		await fetch('/api/alive', {signal: AbortSignal.timeout(900)});
		away(false);
	} catch {
		away(true);
	} finally {
		asking = false;
	}
}, 500);

// act does something in the conversation of the page. What follows comes by its stream.
async function act(name, body = {}) {
	const id = page.id;
	complain(null);
	if (name !== 'cancel') mine = id;
	try {
		await api('conversations/' + id + '/' + name, body);
		if (page.id === id) await load();
		return true;
	} catch (e) {
		if (name !== 'cancel') mine = '';
		if (page.id === id) complain(e);
		if (e.code === 'busy' && page.id === id) load();
		return false;
	}
}

// ---- Pages.

function gate() {
	hang();
	page = {kind: 'gate', id: ''};
	blank('This page needs a token');
	$('gate').hidden = false;
	$('token').focus();
}

function named(title) {
	$('title').textContent = title;
	$('title').classList.toggle('unseen', Boolean(talk && talk.turns.length && talk.turns[0].text === title)); // it stands below
	document.title = title.slice(0, 80) + ' · texttosql';
}

function blank(title, lead) {
	talk = null;
	named(title);
	$('lead').textContent = lead || '';
	$('lead').hidden = !lead;
	for (const id of ['gate', 'progress', 'composer', 'write', 'suggested', 'offered', 'schema', 'manage']) $(id).hidden = true;
	for (const id of ['turns', 'actions', 'tables', 'manage', 'write']) $(id).replaceChildren();
	drawn.clear();
	shape = '';
	complain(null);
	say('');
}

async function route() {
	const hash = location.hash.slice(1);
	const to = /^c\/(.*?)(?:\/(\d+))?$/.exec(hash); // a conversation, and the place of an answer in it
	const next = hash === 'schema' ? {kind: 'schema', id: ''} : to ? {kind: 'talk', id: to[1], at: to[2]} : {kind: 'new', id: ''};
	const first = page.kind === '';
	hang();
	page = next;
	for (const [a, kind] of [[$('to-new'), 'new'], [$('to-schema'), 'schema']]) {
		if (next.kind === kind) a.setAttribute('aria-current', 'page');
		else a.removeAttribute('aria-current');
	}
	list();
	if (next.kind === 'schema') {
		blank('Tables', 'What a question can be about.');
		if (!first) $('title').focus();
		await tables(next);
	} else if (next.kind === 'new') {
		blank('What do you want to know?', 'Ask in your own words. The answer is a statement that only reads, shown with its rows and how sure it is.');
		composer('new');
		$('write').replaceChildren(...writing('Write the SQL yourself', '', {class: 'link'}));
		$('write').hidden = false;
		$('question').focus();
		offer(next);
		await tables(next);
	} else {
		blank('Conversation');
		if (!/^[0-9a-f]{32}$/.test(next.id)) { // a link may come from anywhere, and an id becomes part of addresses
			page = {kind: 'missing', id: ''};
			complain({error: 'there is no such conversation'});
			return;
		}
		if (!first && mine !== next.id) $('title').focus();
		await load();
		if (page === next) listen();
	}
}

async function list() {
	const find = $('find').value.trim();
	try {
		const all = await api('conversations' + (find ? '?find=' + encodeURIComponent(find) : ''));
		if (find !== $('find').value.trim()) return;
		$('database').textContent = all.database;
		if (engine !== all.engine) {
			engine = all.engine;
			for (const pre of document.querySelectorAll('pre[data-sql]')) paint(pre, pre.dataset.sql);
		}
		$('list').replaceChildren(...all.conversations.map((c) => el('li', {}, c.state === 'broken'
			? [el('p', {class: 'broken'}, c.title + ' ', el('small', {}, c.id.slice(0, 8))), button('Delete', () => remove(c.id, c.title), {class: 'small', 'aria-label': 'Delete the conversation ' + c.id.slice(0, 8)})]
			: el('a', {href: '#c/' + c.id, 'aria-current': page.id === c.id ? 'page' : null},
				el('span', {dir: 'auto'}, c.title || 'No question yet'),
				el('small', {}, states[c.state] || new Date(c.updated).toLocaleDateString(undefined, {day: 'numeric', month: 'short', year: 'numeric'}))))));
		if (!all.conversations.length) $('list').append(el('li', {class: 'note'}, find ? 'None has these words.' : 'None yet.'));
		if (all.more) $('list').append(el('li', {class: 'note'}, all.more + ' older ones: find them by their words.'));
	} catch (e) {
		if (page.kind !== 'gate') complain(e);
	}
}

// offer shows questions to begin with. One that is taken can be changed before it is asked.
async function offer(now) {
	try {
		const all = await api('start');
		if (page !== now) return;
		const fill = (list) => list.map((q) => el('li', {}, button(q, () => { $('question').value = q; $('question').focus(); }, {dir: 'auto'})));
		if (all.suggested.length) $('question').placeholder = 'For example: ' + all.suggested[0];
		$('suggestions').replaceChildren(...fill(all.suggested));
		$('offers').replaceChildren(...fill(all.confirmed));
		$('suggested').hidden = !all.suggested.length;
		$('offered').hidden = !all.confirmed.length;
	} catch { /* a question can be typed */ }
}

let known = null; // the tables

async function tables(now) {
	try {
		known = await api('schema');
		if (page !== now) return;
		$('schema').hidden = false;
		$('schema-title').classList.toggle('unseen', now.kind === 'schema');
		$('find-table').value = '';
		search();
	} catch (e) {
		if (page === now) complain(e);
	}
}

const most = 12; // tables on the first page

function search() {
	if (!known) return;
	const words = $('find-table').value.trim().toLowerCase().split(/\s+/);
	const found = known.tables.filter((t) => {
		const text = [t.name, t.about, ...t.columns.map((c) => c.name + ' ' + c.notes)].join(' ').toLowerCase();
		return words.every((w) => text.includes(w) || text.includes(w.replaceAll('_', ' ')));
	});
	const shown = page.kind === 'new' ? found.slice(0, most) : found;
	$('found').textContent = found.length + (found.length === 1 ? ' table' : ' tables') + (shown.length < found.length ? ', ' + shown.length + ' shown' : '');
	$('tables').replaceChildren(...shown.map((t) => described(t, found.length === 1)));
	for (const box of [...$('tables').children].slice(0, 30)) box.look(); // more are counted when they are opened
}

// described is a table: its columns, how many rows it has and some of them.
function described(t, open) {
	const count = el('small', {}, ''), rows = el('div');
	const box = el('details', {class: 'table', open}, el('summary', {}, el('b', {dir: 'auto'}, t.name), t.kind === 'table' ? null : el('small', {}, ' ' + t.kind),
		el('small', {}, ' ' + t.columns.length + (t.columns.length === 1 ? ' column' : ' columns')), ' ', count),
	t.about ? el('p', {class: 'note', dir: 'auto'}, t.about) : null,
	button('Ask about it', () => {
		const ask = () => { $('question').value = 'How many ' + t.name.replace(/^.*\./, '').replaceAll('_', ' ') + ' are there?'; $('question').focus(); $('question').select(); };
		if (page.kind === 'new') ask();
		else { addEventListener('hashchange', () => setTimeout(ask), {once: true}); location.hash = ''; }
	}, {class: 'small', 'aria-label': 'Ask about it: ' + t.name}),
	el('div', {class: 'scroll', role: 'region', tabindex: '0', 'aria-label': 'Columns of ' + t.name}, el('table', {},
		el('thead', {}, el('tr', {}, ['Column', 'Type', 'Notes'].map((h) => el('th', {scope: 'col'}, h)))),
		el('tbody', {}, t.columns.map((c) => el('tr', {},
			el('th', {scope: 'row', dir: 'auto'}, c.name), el('td', {dir: 'auto'}, c.type), el('td', {dir: 'auto'}, c.notes)))))), rows);
	let asked = null;
	box.look = () => asked ||= queue(async () => {
		if (!box.isConnected) return;
		try {
			const s = await api('sample?table=' + encodeURIComponent(t.name));
			count.textContent = s.count ? '· ' + s.count : '';
			if (s.rows && s.rows.rows.length) rows.replaceChildren(el('h3', {}, 'Some rows'), grid(s.rows, 'Rows of ' + t.name));
		} catch { /* its columns are shown */ }
	});
	box.addEventListener('toggle', () => { if (box.open) box.look(); });
	return box;
}

// queue runs one after the other: a database has few connections.
let last = Promise.resolve();
const queue = (f) => last = last.then(f, f);

// ---- A conversation.

// load reads the conversation and shows it.
async function load() {
	const id = page.id, n = ++read;
	try {
		const c = await api('conversations/' + id);
		if (n !== read || page.id !== id) return;
		const before = talk;
		talk = c;
		if (lost) complain(null);
		lost = false;
		render(before);
		if (!before || before.state !== c.state) list();
		rows();
	} catch (e) {
		if (page.id !== id || page.kind !== 'talk') return;
		complain(e);
		lost = true;
	}
}

// rows asks for rows that no record holds: those of the last answer, and of the answers to choose from.
function rows() {
	const turn = talk.turns.findLast((t) => !t.own), own = talk.turns[talk.turns.length - 1];
	if (own && own.own && !own.own.rows && !again.has(talk.id + own.place)) {
		again.add(talk.id + own.place);
		reread(own).catch(() => {});
	}
	const missing = talk.state === 'answered' ? turn && turn.answer && !turn.answer.rows
		: talk.state === 'waiting' && turn && turn.question && turn.question.options.every((o) => o.sql && !o.rows);
	const key = talk.id + ' ' + talk.revision;
	if (!missing || again.has(key) || told && told.running) return;
	again.add(key);
	const id = talk.id;
	api('conversations/' + id + '/resume', {}).then(() => { if (page.id === id) load(); }, () => {});
}

// reread lets the server read rows again that it does not have in memory.
async function reread(t) {
	const id = talk.id;
	await api('conversations/' + id + '/rows/' + t.place);
	if (page.id === id) await load();
}

function listen() {
	hang();
	if (page.kind !== 'talk' || document.visibilityState === 'hidden') return;
	const id = page.id, source = new EventSource('/api/conversations/' + id + '/events');
	stream = source;
	source.onmessage = (m) => {
		heard = Date.now();
		if (missing) away(false);
		const news = JSON.parse(m.data), before = told;
		told = news;
		if (!talk || news.revision !== talk.revision || !before || news.running !== before.running) load();
		steps(news);
	};
	source.onerror = () => {
		told = null; // after a gap anything may have happened
		heard = 0;
		if (source.readyState !== EventSource.CLOSED || stream !== source) return;
		setTimeout(() => { if (stream === source) { load(); listen(); } }, 3000);
	};
}

function hang() {
	if (stream) stream.close();
	stream = told = null;
}

const drawn = new Map(); // the articles on the page, by place: what they show
let shape = ''; // of the actions on the page
let ran = false; // the person's own statement ran, and its rows are not on the page yet

function render(before) {
	const box = $('turns'), turns = talk.turns, busy = talk.state === 'running';
	if (talk.title) named(talk.title);
	let fresh = false, held = false; // the answer that changes has the focus
	const at = turns.findLastIndex((t) => !t.own); // what the state is about; statements of the person may follow
	turns.forEach((t, i) => {
		const isLast = i >= at, key = JSON.stringify([t, isLast]);
		if (drawn.get(i) === key) return;
		const a = article(t, i, isLast);
		held ||= isLast && box.children[i] && box.children[i].contains(document.activeElement) && document.activeElement.matches('[data-goal]');
		if (box.children[i]) box.children[i].replaceWith(a);
		else box.append(a);
		drawn.set(i, key);
		fresh = true;
	});
	$('progress').hidden = !busy;
	if (busy && !(before && before.state === 'running')) {
		$('steps').replaceChildren();
		$('elapsed').textContent = '';
		say('Finding the answer');
		if (mine === talk.id) $('progress-title').focus();
		if (told) steps(told);
	}
	actions();
	manage();
	composer(talk.state);
	if (held) mine = talk.id;
	if (ran && turns.length && turns[turns.length - 1].own) { // drawn by the load that asked, or by a newer one of the stream
		ran = false;
		go(box.lastElementChild);
		say('Your rows are there');
	}
	const linked = box.querySelector('[data-place="' + Number(page.at) + '"]');
	if (linked) {
		page.at = undefined;
		const folded = linked.querySelector(':scope > details.more');
		if (folded) folded.open = true;
		go(linked);
	}
	if (fresh && !busy && (mine === talk.id || before && before.state === 'running')) arrived();
}

function go(a) {
	const heading = a.querySelector('h2');
	heading.tabIndex = -1;
	heading.focus();
	a.scrollIntoView({block: 'start'});
}

// arrived tells of a new answer, and goes to it if this tab asked for it.
function arrived() {
	const t = talk.turns.findLast((t) => !t.own);
	const what = t.confirmed ? 'Confirmed' : t.question ? 'The answers disagree. Choose one.' : t.failure ? 'There is no answer.'
		: t.answer ? 'Answer: ' + (t.answer.found || (t.answer.rows ? t.answer.rows.count : 'a statement')) + ' ' + t.answer.sure + '.' : '';
	say(what);
	const heading = [...$('turns').querySelectorAll('[data-goal]')].pop();
	if (mine === talk.id && heading) {
		heading.focus();
		heading.closest('article').scrollIntoView({block: 'start'});
	}
	mine = '';
}

const percent = (x) => Math.round(100 * x) + ' %';

function steps(news) {
	if (!talk || talk.state !== 'running') return;
	$('elapsed').textContent = news.elapsed ? Math.round(news.elapsed / 1000) + ' s so far' : '';
	const all = news.steps || [];
	const at = all.findLastIndex((s) => s.begun > s.ended);
	$('steps').replaceChildren(...all.map((s, i) => {
		const open = s.begun > s.ended;
		return el('li', {class: open ? 'now' : null}, el('span', {class: 'mark', 'aria-hidden': 'true'}, open ? '•' : '✓'),
			el('span', {dir: 'auto'}, (words[s.name] || s.name) + (s.begun > 1 ? ' (' + s.ended + ' of ' + s.begun + ')' : '')
				+ (s.failed ? ', ' + s.failed + ' failed' : '')));
	}));
	if (at >= 0) {
		const text = words[all[at].name] || all[at].name;
		if ($('status').textContent !== text) say(text);
	}
}

const by = {question: 'You asked', follow_up: 'You asked next', choice: 'You chose', correction: 'You corrected', statement: 'You wrote'};

function article(t, i, isLast) {
	const id = newID('turn'), asked = t.kind === 'question' || t.kind === 'follow_up';
	const a = el('article', {'aria-labelledby': id, 'data-place': t.place, class: t.own ? 'mine' : null},
		el('p', {class: 'by'}, by[t.kind] || t.kind),
		el('h2', {id, dir: 'auto'}, t.own ? 'Your own statement' : t.text || t.meaning || (asked ? '' : t.kind)),
		t.meaning && t.text && t.kind === 'correction' ? el('p', {class: 'meaning', dir: 'auto'}, 'Understood as: ' + t.meaning) : null);
	if (t.own) a.append(...mine_of(t, i));
	if (t.answer) a.append(...isLast ? answer(t, true) : [more('Show this answer', ...answer(t, false))]);
	if (t.question) a.append(choice(t.question));
	if (t.failure) a.append(...failure(t, i));
	return a;
}

// absent stands where rows are not in memory.
function absent(t) {
	const wrong = el('p', {class: 'note', role: 'alert', dir: 'auto'});
	return el('div', {class: 'row'}, button('Show the rows', () => reread(t).catch((e) => { wrong.textContent = e.error; })), wrong);
}

function answer(t, isLast) {
	const a = t.answer, parts = [], id = newID('why');
	const why = el('div', {id, class: 'why', hidden: true}, ...reasons(a));
	parts.push(el('div', {class: 'head'}, el('h3', {tabindex: '-1', 'data-goal': true}, a.rows ? 'Answer' : 'Statement'),
		t.confirmed ? el('p', {class: 'good'}, '✓ Confirmed by you') : null,
		button([el('b', {}, a.sure), bar(a.confidence, true), el('span', {class: 'hint'}, 'why?')],
			(e) => {
				why.hidden = !why.hidden;
				e.currentTarget.setAttribute('aria-expanded', String(!why.hidden));
			}, {class: 'sure', 'aria-expanded': 'false', 'aria-controls': id})), why);
	if (a.found) parts.push(el('p', {class: 'found', dir: 'auto'}, a.found));
	if (a.plain) parts.push(el('p', {class: 'note', dir: 'auto'}, a.plain));
	if (a.says) parts.push(el('p', {class: 'says', dir: 'auto'}, a.says));
	parts.push(...a.rows ? [...(a.rows.charts || []).map(figure), rows_of(t, a.rows)] : isLast ? [] : [absent(t)]);
	for (const w of a.warnings || []) parts.push(el('p', {class: 'warning', dir: 'auto'}, w));
	parts.push(...statement(a.sql, isLast), foot(t, a.cost, a.trace));
	return parts;
}

// foot ends an answer: what it cost, every step, and its address for others who may see the conversation.
const foot = (t, cost, traced) => el('p', {class: 'line note'}, cost ? el('span', {}, cost) : null, traced ? page_of(t) : null,
	button('Copy link', (e) => copy(location.href.split('#')[0] + '#c/' + talk.id + '/' + t.place, null, e.currentTarget), {class: 'link'}));

// reasons say why a confidence is what it is.
function reasons(a) {
	const how = [el('p', {}, 'Confidence ' + percent(a.confidence) + '.'), el('p', {dir: 'auto'}, a.why || 'How it was found is not in memory any more.')];
	if (a.votes) how.push(el('h4', {}, 'How the votes fell'), el('ol', {class: 'votes'}, a.votes.map((v, n) => el('li', {},
		el('p', {class: 'label'}, el('span', {}, v.label + (n === 0 ? ', chosen' : '')), el('span', {}, v.votes)), bar(v.share, n === 0),
		(v.doubts || []).map((d) => el('p', {class: 'note', dir: 'auto'}, 'Doubt: ' + d)), code(v.sql)))));
	if (a.without) how.push(el('h4', {}, 'Statements without a vote'), el('ul', {class: 'votes'}, a.without.map(([sql, why]) => el('li', {},
		el('p', {class: 'note', dir: 'auto'}, why), sql ? code(sql) : null))));
	if (a.notes) how.push(el('h4', {}, 'Decisions'), el('ul', {class: 'list'}, a.notes.map((n) => el('li', {dir: 'auto'}, n))));
	return how;
}

// mine_of is a statement that the person ran.
function mine_of(t, i) {
	const asked = talk.turns.slice(0, i).findLast((x) => x.kind === 'question' || x.kind === 'follow_up');
	const keep = (text) => api('conversations/' + talk.id + '/keep', {turn: t.place, text: text || ''}).then(() => { say('Confirmed'); load(); }, complain);
	const wording = asked && asked.kind === 'question' ? null : standalone(keep);
	return [el('p', {class: 'note'}, 'You wrote it: it has no votes and no confidence. It ran under the same guard and limits.'),
		t.own.found ? el('p', {class: 'found', dir: 'auto'}, t.own.found) : null,
		t.own.says ? el('p', {class: 'says', dir: 'auto'}, t.own.says) : null,
		...t.own.rows ? [...(t.own.rows.charts || []).map(figure), rows_of(t, t.own.rows)] : [absent(t)], ...statement(t.text, true),
		t.confirmed ? el('p', {class: 'good'}, '✓ Confirmed by you as the answer' + (asked ? ' to “' + short(asked.text, 80) + '”' : '')) : el('div', {class: 'row'},
			button('Mine is right', () => { if (wording) { wording.hidden = false; wording.querySelector('input').focus(); } else keep(); })),
		t.confirmed ? null : wording, foot(t)].filter(Boolean);
}

const page_of = (t) => el('a', {href: '/trace/' + talk.id + '/' + t.place, target: '_blank', rel: 'noopener'}, 'Every step (new tab)');

// ---- SQL.

const dialects = {sqlite: 'sqlite', postgresql: 'postgresql', postgres: 'postgresql', mysql: 'mysql', mariadb: 'mariadb', duckdb: 'duckdb', trino: 'trino', bigquery: 'bigquery'};

// pretty lays out a statement; one that the library does not read stays as it is.
function pretty(sql) {
	if (sql.length > 20000) return sql;
	try {
		return sqlFormatter.format(sql, {language: dialects[engine] || 'sql', keywordCase: 'preserve', expressionWidth: 60, tabWidth: 2});
	} catch {
		return sql;
	}
}

// paint sets a statement with its pieces marked. The library cuts the text; what stands here is made of text nodes.
function paint(pre, sql) {
	const text = pretty(sql), piece = (t) => typeof t === 'string' ? t
		: el('span', {class: 'token ' + t.type}, Array.isArray(t.content) ? t.content.map(piece) : piece(t.content));
	pre.dataset.sql = sql;
	pre.replaceChildren(...(text.length > 20000 ? [text] : Prism.tokenize(text, Prism.languages.sql).map(piece)));
}

function code(sql) {
	const pre = el('pre', {tabindex: '0', dir: 'ltr'});
	paint(pre, sql);
	return pre;
}

// statement shows the SQL of an answer. That of the last one can be edited and run.
function statement(sql, last) {
	const pre = code(sql), [edit, box] = last ? writing('Edit', sql, {class: 'small', 'aria-label': 'Edit the SQL and run it'}) : [null, ''];
	return [el('div', {class: 'head'}, el('h3', {}, 'SQL'), el('div', {class: 'row'}, edit,
		button('Copy', () => copy(pre.textContent, pre), {class: 'small', 'aria-label': 'Copy the SQL'}))), pre, box];
}

// writing is a button that opens an editor, and the place for that.
function writing(name, sql, props) {
	const box = el('div'), edit = button(name, () => editor(box, edit, sql), props);
	return [edit, box];
}

function editor(box, edit, sql) {
	const text = el('textarea', {id: newID('sql'), class: 'code', rows: '8', dir: 'ltr', spellcheck: 'false', autocapitalize: 'off', maxlength: '60000', required: true});
	const wrong = el('p', {class: 'problem', role: 'alert', dir: 'auto', hidden: true}), run = el('button', {type: 'submit', class: 'first'}, 'Run');
	const close = () => { box.replaceChildren(); edit.hidden = false; edit.focus(); };
	text.value = pretty(sql);
	text.addEventListener('keydown', (e) => {
		if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); box.firstChild.requestSubmit(); }
		if (e.key === 'Escape') { e.stopPropagation(); close(); }
	});
	box.replaceChildren(el('form', {submit: async (e) => {
		e.preventDefault();
		wrong.hidden = run.disabled = true;
		say('Running the statement');
		try {
			const talking = page.kind === 'talk', {id} = await api(talking ? 'conversations/' + talk.id + '/query' : 'query', {sql: text.value});
			ran = true;
			close();
			if (talking) await load();
			else location.hash = 'c/' + id;
		} catch (failed) {
			wrong.textContent = failed.error;
			wrong.hidden = false;
			text.focus();
		}
		run.disabled = false;
	}}, el('label', {for: text.id}, 'Your own SQL, one statement that reads'), text, wrong,
	el('div', {class: 'row'}, el('p', {class: 'note'}, 'Control and Enter runs it. It only reads, and no model is asked.'), button('Close', close), run)));
	edit.hidden = true;
	text.focus();
}

async function copy(text, from, pressed) {
	try {
		await navigator.clipboard.writeText(text);
		say('Copied');
		if (pressed) pressed.textContent = 'Copied';
	} catch { // no leave, or no secure connection
		if (from) getSelection().selectAllChildren(from);
		if (pressed) pressed.replaceWith(el('input', {class: 'address', 'aria-label': 'Link to this answer', value: text, readonly: true}));
		say('Copy it with the keyboard');
	}
}

const bar = (share, lead) => draw('svg', {class: 'bar', viewBox: '0 0 1000 10', preserveAspectRatio: 'none', 'aria-hidden': 'true'},
	draw('rect', {class: 'track', width: 1000, height: 10}),
	draw('rect', {class: lead ? 'lead' : 'rest', width: 1000 * Math.min(1, Math.max(0, share)), height: 10}));

// rows_of are the rows of an answer, a page at a time: to be sorted, searched and taken along.
function rows_of(t, first) {
	const base = '/conversations/' + talk.id + '/rows/' + t.place + '?', box = el('div', {class: 'rows'}), at = {from: 0, sort: 0, down: false, find: ''};
	const label = t.own ? 'Rows of your statement ' + t.place : 'Rows of the answer';
	const query = (more) => base + 'sort=' + at.sort + (at.down ? '&down' : '') + '&find=' + encodeURIComponent(at.find) + (more || '');
	const held = el('div'), pager = el('div', {class: 'row pager'});
	const wrong = el('p', {class: 'note', role: 'alert'});
	let n = 0, before = []; // where the pages before this one begin
	const turn = async (change, focus) => {
		const mine = ++n;
		if (!('from' in change)) before = [];
		Object.assign(at, {from: 0}, change);
		try {
			const page = await api(query('&from=' + at.from).slice(1));
			if (mine !== n) return;
			wrong.textContent = '';
			show(page);
			const to = focus && box.querySelector(focus);
			if (to) (to.disabled ? box.querySelector('.scroll') : to).focus();
			say(pager.firstChild ? pager.firstChild.textContent : page.count);
		} catch (e) {
			wrong.textContent = e.error;
		}
	};
	const show = (page) => {
		held.replaceChildren(grid(page, label, first.total > 1 ? at : null, turn));
		pager.hidden = page.total <= page.rows.length;
		pager.replaceChildren(el('p', {class: 'note'}, page.rows.length ? 'Rows ' + (page.from + 1).toLocaleString() + ' to ' + (page.from + page.rows.length).toLocaleString() + ' of ' + (page.count.startsWith('the first ') ? 'the first ' : '') + page.total.toLocaleString() : 'No row'),
			button('Back', () => turn({from: before.pop() || 0}, '.back'), {class: 'small back', disabled: page.from === 0, 'aria-label': 'Back to the rows before'}),
			button('Next', () => { before.push(page.from); turn({from: page.from + page.rows.length}, '.next'); }, {class: 'small next', disabled: page.from + page.rows.length >= page.total, 'aria-label': 'Next rows'}));
	};
	show(first);
	if (first.total < 2) { box.append(held); return box; }
	const find = el('input', {id: newID('find'), type: 'search', placeholder: 'Find in the rows', autocomplete: 'off', dir: 'auto'});
	let wait = 0;
	find.addEventListener('input', () => { clearTimeout(wait); wait = setTimeout(() => turn({find: find.value}), 150); });
	const save = (form) => el('a', {class: 'button', href: '/api' + query('&save&form=' + form), download: 'rows.' + form, click: (e) => {
		e.currentTarget.setAttribute('href', '/api' + query('&save&form=' + form)); // as they are ordered and found now
	}}, form.toUpperCase());
	const take = (form) => async () => {
		try {
			const text = fetch('/api' + query('&form=' + form)).then((r) => r.ok ? r.text() : Promise.reject(r));
			if (window.ClipboardItem) await navigator.clipboard.write([new ClipboardItem({'text/plain': text.then((t) => new Blob([t], {type: 'text/plain'}))})]);
			else await navigator.clipboard.writeText(await text);
			say('Copied');
		} catch {
			say('It could not be copied: save it as CSV');
			wrong.textContent = 'The browser does not let the page copy here: save it as CSV.';
		}
	};
	box.append(el('div', {class: 'row tools'}, el('label', {for: find.id, class: 'unseen'}, 'Find in the rows'), find,
		el('span', {class: 'note'}, 'Save'), save('csv'), save('json'), el('span', {class: 'note'}, 'Copy'),
		button('Table', take('tsv'), {class: 'small', 'aria-label': 'Copy as a table for a spreadsheet'}),
		button('Markdown', take('md'), {class: 'small', 'aria-label': 'Copy as Markdown'})), wrong, held, pager);
	return box;
}

// local is a cell by the language and the clock of the reader. The server writes numbers as English does; a moment has its zone. No
// digit is lost: the number is read as a text.
function local(text, moment, numeric) {
	if (moment) {
		const at = new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
		const seconds = /:\d\d:(?!00)/.test(text) ? {second: '2-digit'} : {};
		return isNaN(at) ? text : at.toLocaleString(undefined, {year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', ...seconds});
	}
	if (!numeric || !/^−?[\d,]+(\.\d+)?$/.test(text)) return text;
	const digits = (text.split('.')[1] || '').length;
	return new Intl.NumberFormat(undefined, {useGrouping: text.includes(','), minimumFractionDigits: digits, maximumFractionDigits: digits})
		.format(text.replaceAll(',', '').replace('−', '-')).replace('-', '−');
}

// grid shows rows. With at and turn its headers sort.
function grid(t, label, at, turn) {
	const head = t.charts && t.charts.length > 0;
	return el('div', {class: 'scroll' + (t.rows.length === 1 && t.columns.length === 1 && t.total === 1 ? ' only' : ''), role: 'region', tabindex: '0', 'aria-label': label},
		el('table', {},
			el('caption', {}, t.count + (t.cut ? '; long values are shown in part' : '')),
			el('thead', {}, el('tr', {}, t.columns.map((c, i) => {
				const on = at && at.sort === i + 1;
				return el('th', {scope: 'col', dir: 'auto', class: t.numeric[i] ? 'number' : null, 'aria-sort': on ? at.down ? 'descending' : 'ascending' : null},
					at ? button([c || '(no name)', el('span', {'aria-hidden': 'true'}, on ? at.down ? ' ↓' : ' ↑' : '')],
						() => turn(on && at.down ? {sort: 0, down: false} : {sort: i + 1, down: Boolean(on)}, 'th:nth-child(' + (i + 1) + ') button'), {class: 'sort'}) : c);
			}))),
			el('tbody', {}, t.rows.map((r) => el('tr', {}, r.map((v, i) => el(head && i === 0 ? 'th' : 'td', {
				scope: head && i === 0 ? 'row' : null, dir: 'auto', class: v === null ? 'null' : t.numeric[i] && !(head && i === 0) ? 'number' : null,
				title: v !== null && t.moments[i] ? v : null, // as the database wrote it
			}, v === null ? 'NULL' : local(v, t.moments[i], t.numeric[i]))))))));
}

function choice(q) {
	return el('section', {}, el('h3', {tabindex: '-1', 'data-goal': true, dir: 'auto'}, q.message.replace(/^./, (c) => c.toUpperCase())),
		el('ul', {class: 'choices'}, q.options.map((o, i) => {
			const name = newID('option');
			return el('li', {}, el('p', {id: name, dir: 'auto', class: 'says'}, el('b', {}, (i + 1) + '. '), o.says || o.label),
				o.says ? el('p', {class: 'note', dir: 'auto'}, o.label) : null,
				o.shows ? el('p', {class: 'shows', dir: 'auto'}, o.shows) : null,
				o.rows ? grid(o.rows, 'Rows of answer ' + (i + 1)) : null,
				el('div', {class: 'row'}, button('Choose this', () => act('choose', {option: o.id}), {'aria-describedby': name, class: 'choose first'})),
				o.sql ? more('SQL', code(o.sql)) : null);
		})));
}

function failure(t, i) {
	const f = t.failure;
	return [
		el('h3', {tabindex: '-1', 'data-goal': true}, talk.state === 'failed' ? 'No answer' : 'Not answered yet'),
		el('p', {class: talk.state === 'failed' ? 'problem' : 'warning', dir: 'auto'}, f.error),
		f.advice ? el('ul', {class: 'advice'}, f.advice.map((a) => el('li', {dir: 'auto'}, a))) : null,
		f.attempts ? more('Statements that were tried', el('ul', {class: 'votes'}, f.attempts.map((a) => el('li', {},
			a.error ? el('p', {class: 'note', dir: 'auto'}, a.error) : null, code(a.sql))))) : null,
		f.trace ? el('p', {class: 'line note'}, page_of(t)) : null,
	].filter(Boolean);
}

// ---- What can be done next.

function actions() {
	const last = talk.turns.findLast((t) => !t.own);
	const key = [talk.id, talk.state, talk.revision, talk.turns.length, talk.left, last && last.confirmed].join();
	if (key === shape) return;
	shape = key;
	const parts = [], row = el('div', {class: 'row'});
	const asked = talk.turns.findLast((t) => t.kind === 'question' || t.kind === 'follow_up');
	if (talk.state === 'stopped') {
		row.append(button('Go on', () => act('resume'), {class: 'first'}));
		parts.push(el('p', {class: 'note'}, 'It goes on where it stopped. What was paid for is not paid for again.'));
	}
	if (talk.state === 'failed') row.append(button('Try again', () => act('resume')));
	if (['stopped', 'failed'].includes(talk.state) && !talk.active && asked) row.append(button('Edit the question', (e) => {
		const at = e.currentTarget.parentElement, input = el('textarea', {id: newID('edit'), rows: '2', maxlength: '8000', dir: 'auto', required: true});
		input.value = asked.text;
		input.addEventListener('keydown', (e) => { if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) { e.preventDefault(); form.requestSubmit(); } });
		const form = el('form', {submit: (e) => { e.preventDefault(); act('edit', {question: input.value}); }}, el('label', {for: input.id}, 'Your question, in other words'), input,
			el('div', {class: 'row'}, el('button', {type: 'submit', class: 'first'}, 'Ask this instead')));
		at.after(form);
		e.currentTarget.remove();
		input.focus();
	}));
	if (['stopped', 'failed'].includes(talk.state) && !talk.active && last) {
		const tried = last.failure && last.failure.attempts || [], [write, box] = writing('Write the SQL', tried.length ? tried[tried.length - 1].sql : '');
		row.append(write);
		parts.push(box);
	}
	if (talk.state === 'answered' && last && !last.confirmed) {
		const wording = asked.kind === 'follow_up' ? standalone((text) => act('confirm', {text})) : null;
		row.append(button('This is right', () => {
			if (!wording) { act('confirm'); return; }
			wording.hidden = false;
			wording.querySelector('input').focus();
		}, {'aria-expanded': wording ? 'false' : null}));
		if (wording) parts.push(wording);
	}
	if (row.childNodes.length) parts.unshift(row);
	if (['answered', 'failed', 'waiting'].includes(talk.state) && last) parts.push(correction());
	$('actions').replaceChildren(...parts);
}

// standalone is the form for the wording of a follow-up, whose words mean nothing alone.
function standalone(keep) {
	const input = el('input', {id: newID('wording'), type: 'text', maxlength: '8000', dir: 'auto', required: true});
	return el('form', {hidden: true, submit: (e) => { e.preventDefault(); keep(input.value); }},
		el('label', {for: input.id}, talk.turns.some((t) => !t.own) ? 'The question, said so that it can be understood alone' : 'The question that it answers'), input,
		el('div', {class: 'row'}, el('button', {type: 'submit', class: 'first'}, 'Confirm')));
}

// manage names and deletes the conversation.
function manage() {
	if ($('manage').firstChild && $('manage').dataset.id === talk.id) return;
	const id = talk.id, box = $('manage');
	const name = button('Rename', () => {
		const input = el('input', {id: newID('name'), type: 'text', maxlength: '200', dir: 'auto'});
		input.value = talk.title;
		const again = () => { box.dataset.id = ''; manage(); };
		const form = el('form', {class: 'row', submit: async (e) => {
			e.preventDefault();
			try {
				await api('conversations/' + id + '/rename', {title: input.value});
				again();
				await load();
				list();
				$('title').focus();
				say('Renamed');
			} catch (failed) { complain(failed); }
		}}, el('label', {for: input.id}, 'Its name'), input, el('button', {type: 'submit', class: 'first small'}, 'Save'), button('Keep', again, {class: 'small'}));
		box.replaceChildren(form);
		input.focus();
		input.select();
	}, {class: 'small'});
	box.dataset.id = id;
	box.hidden = false;
	box.replaceChildren(name, button('Delete', () => remove(id, talk.title), {class: 'small'}));
}

// remove deletes a conversation, once that is said twice.
function remove(id, title) {
	const box = el('dialog', {'aria-label': 'Delete a conversation'}, el('p', {dir: 'auto'}, 'Delete “' + short(title, 80) + '” for good?'), el('div', {class: 'row'},
		button('Delete', async () => {
			box.close();
			try {
				await api('conversations/' + id, undefined, 'DELETE');
				say('Deleted');
				if (page.id === id) location.hash = '';
				else list();
			} catch (e) { complain(e); }
		}, {class: 'first'}), button('Keep', () => box.close())));
	box.addEventListener('close', () => box.remove());
	document.body.append(box);
	box.showModal();
}

const kinds = {
	words: ['I say it in my own words', ['text', 'In your own words', 'use table clients, not customers']],
	table: ['It reads the wrong table', ['right', 'Table to read', '', 'tables'], ['wrong', 'Table not to read', '', 'tables']],
	join: ['Tables are joined wrongly', ['left', 'This column', 'table.column', 'columns'], ['right', 'equals this column', 'table.column', 'columns']],
	column: ['A word means another column', ['term', 'Your word'], ['column', 'means the column', 'table.column', 'columns']],
	filter: ['A condition is missing', ['text', 'The condition', 'only orders that were shipped']],
	logic: ['A rule is not kept', ['text', 'The rule', 'a sale counts on the day it was paid']],
};

// quoted writes a name of the database as a correction reads it.
function quoted(text) {
	if (/^[\p{L}\p{N}_.]+$/u.test(text)) return text;
	const quote = (part) => '"' + part.replaceAll('"', '""') + '"';
	const at = text.lastIndexOf('.');
	return at < 0 ? quote(text) : quote(text.slice(0, at)) + '.' + quote(text.slice(at + 1));
}

const corrections = {
	words: (v) => ({text: v.text}),
	table: (v) => ({correction: {type: 'table', selected_tables: [v.right].filter(Boolean).map(quoted), rejected_tables: [v.wrong].filter(Boolean).map(quoted)}}),
	join: (v) => ({correction: {type: 'join', join_condition: quoted(v.left) + ' = ' + quoted(v.right)}}),
	column: (v) => ({correction: {type: 'column', user_term: v.term, actual_column: quoted(v.column)}}),
	filter: (v) => ({correction: {type: 'filter', correction: v.text}}),
	logic: (v) => ({correction: {type: 'logic', correction: v.text}}),
};

function correction() {
	if (!talk.left) return el('p', {class: 'note'}, 'All corrections of this question are used. Ask it in other words.');
	const pick = el('select', {id: newID('kind')}, Object.entries(kinds).map(([k, [text]]) => el('option', {value: k}, text)));
	const fields = el('div'), known = el('div', {hidden: true});
	const show = () => fields.replaceChildren(...kinds[pick.value].slice(1).flatMap(([key, label, hint, names]) => {
		const id = newID('field');
		return [el('label', {for: id}, label), el('input', {
			id, name: key, type: 'text', maxlength: '500', dir: 'auto', autocomplete: 'off', placeholder: hint || null,
			list: names ? names + '-known' : null, required: pick.value !== 'table',
		})];
	}));
	pick.addEventListener('change', show);
	show();
	const form = el('form', {submit: (e) => {
		e.preventDefault();
		const values = {};
		for (const input of fields.querySelectorAll('input')) values[input.name] = input.value.trim();
		act('correct', corrections[pick.value](values));
	}}, el('label', {for: pick.id}, 'What is wrong?'), pick, fields, known,
	el('div', {class: 'row'}, el('button', {type: 'submit', class: 'first'}, 'Correct and ask again'),
		talk.left === 1 ? el('p', {class: 'note'}, 'This is the last correction of this question; then ask it in other words.') : null));
	const box = more(talk.state === 'waiting' ? 'None of these' : 'Something is wrong', form);
	box.addEventListener('toggle', async () => {
		if (!box.open || known.firstChild) return;
		try {
			const s = await api('schema');
			known.replaceChildren(
				el('datalist', {id: 'tables-known'}, s.tables.map((t) => el('option', {value: t.name}))),
				el('datalist', {id: 'columns-known'}, s.tables.flatMap((t) => t.columns.map((c) => el('option', {value: t.name + '.' + c.name})))));
		} catch { /* the names can be typed */ }
	});
	return box;
}

function composer(state) {
	const first = state === 'new';
	$('composer').hidden = !first && !['answered', 'failed', 'waiting'].includes(state);
	$('composer').classList.toggle('below', !first);
	$('question-label').textContent = first || !talk.turns.some((t) => !t.own) ? 'Your question' : 'A follow-up question';
	$('question').rows = first ? 2 : 1;
	$('question').placeholder = first ? '' : $('question-label').textContent;
}

async function send() {
	const text = $('question').value;
	if (!text.trim()) {
		$('question').focus();
		return;
	}
	if (page.kind === 'talk') {
		if (await act('ask', {question: text})) $('question').value = '';
		return;
	}
	complain(null);
	const submit = $('composer').querySelector('[type=submit]');
	submit.disabled = true;
	try {
		const {id} = await api('conversations', {question: text});
		$('question').value = '';
		mine = id;
		location.hash = 'c/' + id;
	} catch (e) {
		complain(e);
	} finally {
		submit.disabled = false;
	}
}

// ---- Charts.

const compact = new Intl.NumberFormat(undefined, {notation: 'compact', maximumFractionDigits: 2});
const short = (text, n) => [...text].length > n ? [...text].slice(0, n - 1).join('') + '…' : text;

// ticks returns about n round numbers from low to high.
function ticks(low, high, n) {
	const raw = (high - low) / n || 1, power = 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 5, 10].find((m) => m * power >= raw) * power;
	const all = [];
	for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) all.push(k * step);
	return all;
}

function figure(c) {
	const all = c.lines.flatMap((l) => l.values.map((v, i) => ({v, text: l.texts[i], at: c.labels[i] + (l.name ? ', ' + l.name : '')}))).filter((p) => p.v !== null);
	const low = all.reduce((a, b) => b.v < a.v ? b : a), high = all.reduce((a, b) => b.v > a.v ? b : a), n = c.labels.length, many = c.lines.length > 1;
	const id = newID('chart'), picture = draw('svg', {role: 'img', 'aria-labelledby': id, 'aria-describedby': id + '-more'});
	const described = (c.kind === 'line' ? n + ' points from ' + c.labels[0] + ' to ' + c.labels[n - 1] : n + ' values') + (many ? ' for each of ' + c.lines.map((l) => l.name).join(', ') : '')
		+ '. Lowest: ' + low.text + ' (' + low.at + '). Highest: ' + high.text + ' (' + high.at + '). The table below has all values.';
	const kinds = {...c.kind === 'line' ? {line: 'Line', ...broken(c) ? {zero: 'Line from zero'} : {}} : many ? {} : {bars: 'Bars'}, ...n * c.lines.length > 120 && many ? {} : {columns: 'Columns'}, none: 'No chart'};
	const pick = el('select', {id: id + '-kind', class: 'small'}, Object.entries(kinds).map(([k, text]) => el('option', {value: k}, text)));
	const note = el('p', {class: 'note'}), save = button('PNG', () => photograph(f, picture, c), {class: 'small', 'aria-label': 'Save the chart as PNG: ' + c.title});
	const legend = many ? el('ul', {class: 'legend'}, c.lines.map((l, i) => el('li', {dir: 'auto'}, draw('svg', {viewBox: '0 0 24 10', 'aria-hidden': 'true'}, draw('path', {class: 'curve c' + i, d: 'M0 5H24'})), l.name || '(empty)'))) : null;
	const f = el('figure', {class: 'chart'}, el('div', {class: 'head'}, el('figcaption', {id, dir: 'auto'}, c.title),
		el('div', {class: 'row'}, el('label', {for: pick.id, class: 'unseen'}, 'Kind of chart'), pick, save)), legend, picture, note, el('p', {class: 'unseen', id: id + '-more'}, described));
	let width = 0;
	const paint = () => {
		for (const e of [picture, save, legend]) if (e) e.toggleAttribute('hidden', pick.value === 'none');
		const cut = pick.value === 'line' && broken(c);
		note.textContent = cut ? 'The axis is broken: it does not begin at zero.' : '';
		note.hidden = !cut;
		if (pick.value === 'none') return;
		const points = pick.value === 'bars' ? bars(picture, c, width) : plot(picture, c, width, pick.value, cut);
		tips(picture, c, points, width);
	};
	pick.addEventListener('change', paint);
	new ResizeObserver(() => requestAnimationFrame(() => { // drawing changes the height
		const now = Math.floor(f.clientWidth);
		if (now > 0 && now !== width) { width = now; paint(); }
	})).observe(f);
	return f;
}

// range is the lowest and the highest value of a chart.
function range(c) {
	const all = c.lines.flatMap((l) => l.values).filter((v) => v !== null);
	return [Math.min(...all), Math.max(...all)];
}

// broken says that from zero on a line would show nothing of how its values differ.
function broken(c) {
	const [low, high] = range(c);
	return low > 0 && high - low < .3 * high && high > low;
}

// photograph saves a chart as it is drawn, with its title and its legend, as a picture of twice its size.
async function photograph(f, picture, c) {
	const [, , width, height] = picture.getAttribute('viewBox').split(' ').map(Number), copy = picture.cloneNode(true), of = getComputedStyle(f);
	const took = (from, to) => { // an image has no style of the page
		const style = getComputedStyle(from);
		for (const name of ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'font-size', 'font-family', 'text-anchor']) to.setAttribute(name, style.getPropertyValue(name));
		[...from.children].forEach((child, i) => took(child, to.children[i]));
	};
	took(picture, copy);
	for (const tip of copy.querySelectorAll('.tip, .tip-text')) tip.remove();
	const names = f.querySelectorAll('.legend li'), top = 34 + 20 * names.length, text = (x, y, size, words) => draw('text', {x, y, 'font-size': size, 'font-family': of.fontFamily, fill: of.color}, words);
	const whole = draw('svg', {xmlns: 'http://www.w3.org/2000/svg', viewBox: '-12 0 ' + (width + 24) + ' ' + (height + top + 12), width: 2 * (width + 24), height: 2 * (height + top + 12)},
		draw('rect', {x: -12, width: '100%', height: '100%', fill: getComputedStyle(document.body).backgroundColor}), text(0, 22, 15, c.title),
		[...names].flatMap((li, i) => [draw('rect', {x: 0, y: 38 + 20 * i, width: 12, height: 12, fill: getComputedStyle(li.querySelector('path')).stroke}), text(20, 49 + 20 * i, 13, li.textContent)]), draw('g', {transform: 'translate(0 ' + top + ')'}, ...copy.childNodes));
	const url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(whole)], {type: 'image/svg+xml'})), image = new Image(), sheet = el('canvas', {width: 2 * (width + 24), height: 2 * (height + top + 12)});
	try {
		image.src = url;
		await image.decode();
		sheet.getContext('2d').drawImage(image, 0, 0);
		const blob = await new Promise((done) => sheet.toBlob(done, 'image/png')), to = URL.createObjectURL(blob);
		el('a', {href: to, download: c.title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60) + '.png'}).click();
		setTimeout(() => URL.revokeObjectURL(to), 60000);
		say('Saved');
	} catch {
		say('The browser cannot make a picture of it');
	}
	URL.revokeObjectURL(url);
}

// plot draws lines or columns and returns the highest middle at each label.
function plot(picture, c, width, kind, cut) {
	const height = 240, left = 58, right = 14, top = 10, bottom = 28, n = c.labels.length;
	let [low, high] = range(c);
	if (cut) low -= .15 * (high - low);
	else { low = Math.min(0, low); high = Math.max(0, high); }
	if (low === high) high = low + 1;
	const marks = ticks(low, high, 4), room = width - left - right, thick = Math.max(1, Math.min(48, .7 * room / n / c.lines.length));
	high = Math.max(high, marks[marks.length - 1]);
	const x = (i) => kind === 'columns' ? left + room * (i + .5) / n : c.at ? left + room * (c.at[i] - c.at[0]) / ((c.at[n - 1] - c.at[0]) || 1) : left + room * i / Math.max(1, n - 1);
	const y = (v) => top + (height - top - bottom - (cut ? 14 : 0)) * (high - v) / (high - low);
	const parts = marks.flatMap((v) => [
		draw('line', {class: v === 0 ? 'grid zero' : 'grid', x1: left, x2: width - right, y1: y(v), y2: y(v)}),
		draw('text', {x: left - 8, y: y(v) + 4, 'text-anchor': 'end'}, compact.format(v)),
	]);
	if (cut) { // the sign of a broken axis
		const b = height - bottom;
		parts.push(draw('polyline', {class: 'break', points: [[0, 2], [0, -4], [-5, -7], [5, -11], [0, -14], [0, -20]].map(([dx, dy]) => (left + dx) + ',' + (b + dy)).join(' ')}));
		parts.push(draw('text', {x: left - 8, y: b + 2, 'text-anchor': 'end'}, '0'));
	}
	c.lines.forEach(({values}, k) => {
		if (kind === 'columns') values.forEach((v, i) => v === null || parts.push(draw('rect', {class: 'block c' + k, x: x(i) + thick * (k - c.lines.length / 2), y: Math.min(y(0), y(v)), width: Math.max(1, thick - (c.lines.length > 1)), height: Math.max(1, Math.abs(y(v) - y(0)))})));
		else {
			parts.push(draw('path', {class: 'curve c' + k, d: values.map((v, i) => v === null ? '' : (i && values[i - 1] !== null ? 'L' : 'M') + x(i).toFixed(1) + ' ' + y(v).toFixed(1)).join('')}));
			values.forEach((v, i) => v === null || n > 60 && (values[i - 1] ?? values[i + 1] ?? null) !== null || parts.push(draw('circle', {class: 'dot c' + k, cx: x(i), cy: y(v), r: 3})));
		}
	});
	const letters = kind === 'columns' && !c.at ? 10 : 12, wide = 7 * Math.max(...c.labels.map((l) => [...short(l, letters)].length)) + 14;
	const each = Math.max(1, Math.ceil(n * wide / room)); // every label, every second, every third …
	for (let i = 0, free = -Infinity; i < n; i += each) {
		const own = short(c.labels[i], letters), half = 3.5 * [...own].length, at = Math.min(width - half, Math.max(half, x(i)));
		if (at - half < free) continue; // points of time are not evenly apart
		free = at + half + 8;
		parts.push(draw('text', {x: at, y: height - 8, 'text-anchor': 'middle'}, own));
	}
	picture.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
	picture.setAttribute('height', height);
	picture.replaceChildren(...parts);
	return c.labels.map((_, i) => [x(i), Math.min(...c.lines.map((l) => l.values[i] === null ? height : y(l.values[i])))]);
}

function bars(picture, c, width) {
	const {values, texts} = c.lines[0], row = 26, n = values.length, letters = Math.max(6, Math.min(28, Math.floor(width * .35 / 7)));
	const left = 7 * Math.min(letters, Math.max(...c.labels.map((l) => [...l].length))) + 12, right = 8 * Math.max(...texts.map((t) => [...t].length)) + 12;
	const low = Math.min(0, ...values), high = Math.max(0, ...values), span = high - low || 1;
	const x = (v) => left + (width - left - right) * (v - low) / span;
	picture.setAttribute('viewBox', '0 0 ' + width + ' ' + row * n);
	picture.setAttribute('height', row * n);
	picture.replaceChildren(...values.flatMap((v, i) => [
		draw('text', {x: left - 8, y: row * i + 17, 'text-anchor': 'end'}, short(c.labels[i], letters)),
		draw('rect', {class: 'block', x: Math.min(x(0), x(v)), y: row * i + 4, width: Math.max(1, Math.abs(x(v) - x(0))), height: row - 8, rx: 2}),
		draw('text', {class: 'value', x: Math.max(x(0), x(v)) + 6, y: row * i + 17}, texts[i]),
	]));
	return values.map((v, i) => [null, row * i + 13]);
}

// tips tell the point under the pointer.
function tips(picture, c, points, width) {
	const back = draw('rect', {class: 'tip', height: 24, rx: 4}), text = draw('text', {class: 'tip-text', 'text-anchor': 'middle'}), tip = draw('g', {}, back, text);
	picture.onpointermove = (e) => {
		const r = picture.getBoundingClientRect(), px = (e.clientX - r.left) * width / r.width, py = (e.clientY - r.top) * width / r.width;
		const away = ([x, y]) => x === null ? Math.abs(y - py) : Math.abs(x - px);
		const i = points.reduce((best, p, i) => away(p) < away(points[best]) ? i : best, 0);
		text.textContent = short(c.labels[i], 40) + ': ' + c.lines.filter((l) => l.texts[i]).map((l) => (l.name ? short(l.name, 20) + ' ' : '') + l.texts[i]).join(', ');
		const wide = Math.min(width, 7.2 * [...text.textContent].length + 16), x = Math.min(width - wide / 2, Math.max(wide / 2, points[i][0] === null ? px : points[i][0]));
		const y = points[i][1] < 34 ? points[i][1] + 12 : points[i][1] - 34;
		back.setAttribute('x', x - wide / 2);
		back.setAttribute('width', wide);
		back.setAttribute('y', y);
		text.setAttribute('x', x);
		text.setAttribute('y', y + 16);
		if (!tip.isConnected) picture.append(tip);
	};
	picture.onpointerleave = () => tip.remove();
}

// ---- The keyboard and the rest.

$('composer').addEventListener('submit', (e) => { e.preventDefault(); send(); });
$('question').addEventListener('keydown', (e) => {
	if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
		e.preventDefault();
		send();
	}
});
document.addEventListener('keydown', (e) => {
	if (e.key === 'Escape' && !e.isComposing && talk && talk.state === 'running') act('cancel');
});
$('cancel').addEventListener('click', () => act('cancel'));
$('skip').addEventListener('click', () => $('title').focus());
$('gate').addEventListener('submit', async (e) => {
	e.preventDefault();
	try {
		await api('login', {token: $('token').value});
		$('token').value = '';
		route();
	} catch (failed) {
		complain(failed);
		$('token').focus();
	}
});
document.addEventListener('visibilitychange', () => {
	if (page.kind !== 'talk') return;
	if (document.visibilityState === 'hidden') hang(); // a browser has few connections for all its tabs
	else { load(); listen(); }
});
for (const [id, f] of [['find', list], ['find-table', search]]) {
	let wait = 0;
	$(id).addEventListener('input', () => { clearTimeout(wait); wait = setTimeout(f, 150); });
}
// A heading that gets the focus after a click is not framed as if it were a field.
addEventListener('pointerdown', () => { document.documentElement.dataset.by = 'pointer'; }, true);
addEventListener('keydown', () => { document.documentElement.dataset.by = 'keys'; }, true);
addEventListener('hashchange', route);
if (matchMedia('(max-width: 52rem)').matches) $('past').open = false;
route();
})();
