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
	if (e && e.code === 'stale') p.append(el('br'), button('Ask again as things are now', () => act('restart')));
	p.hidden = !e;
}

// ---- The interface of the server.

async function api(path, body) {
	let reply;
	try {
		reply = await fetch('/api/' + path, body === undefined ? {} : {
			method: 'POST', headers: {'Content-Type': 'application/json', 'X-Texttosql': '1'}, body: JSON.stringify(body),
		});
	} catch {
		throw {code: 'offline', error: 'The server cannot be reached. What it was doing is kept.'};
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
	$('title').classList.toggle('unseen', page.kind === 'talk'); // the first question stands below it
	document.title = title.slice(0, 80) + ' · texttosql';
}

function blank(title, lead) {
	talk = null;
	named(title);
	$('lead').textContent = lead || '';
	$('lead').hidden = !lead;
	for (const id of ['gate', 'progress', 'composer', 'offered', 'tables']) $(id).hidden = true;
	for (const id of ['turns', 'actions', 'tables']) $(id).replaceChildren();
	drawn.clear();
	shape = '';
	complain(null);
	say('');
}

async function route() {
	const hash = location.hash.slice(1);
	const next = hash === 'schema' ? {kind: 'schema', id: ''} : hash.startsWith('c/') ? {kind: 'talk', id: hash.slice(2)} : {kind: 'new', id: ''};
	const first = page.kind === '';
	hang();
	page = next;
	for (const [a, kind] of [[$('to-new'), 'new'], [$('to-schema'), 'schema']]) {
		if (next.kind === kind) a.setAttribute('aria-current', 'page');
		else a.removeAttribute('aria-current');
	}
	const listed = list();
	if (next.kind === 'schema') {
		blank('Tables', 'What a question can be about.');
		if (!first) $('title').focus();
		try {
			schema(await api('schema'));
		} catch (e) {
			complain(e);
		}
	} else if (next.kind === 'new') {
		blank('Ask a question', 'It is answered by a statement that only reads, which you see beside the rows.');
		composer('new');
		await listed;
		if (page === next && page.kind === 'new') $('question').focus();
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
	try {
		const all = await api('conversations');
		$('database').textContent = all.database;
		$('list').replaceChildren(...all.conversations.map((c) => el('li', {},
			el('a', {href: '#c/' + c.id, 'aria-current': page.id === c.id ? 'page' : null},
				el('span', {dir: 'auto'}, c.title || 'No question yet'),
				el('small', {}, states[c.state] || new Date(c.updated).toLocaleDateString(undefined, {day: 'numeric', month: 'short', year: 'numeric'}))))));
		if (!all.conversations.length) $('list').append(el('li', {class: 'note'}, 'None yet.'));
		$('offers').replaceChildren(...all.confirmed.map((q) => el('li', {}, button(q, () => { $('question').value = q; $('question').focus(); }, {dir: 'auto'}))));
		$('offered').hidden = page.kind !== 'new' || !all.confirmed.length;
	} catch (e) {
		if (page.kind !== 'gate') complain(e);
	}
}

function schema(s) {
	$('tables').hidden = false;
	$('tables').replaceChildren(...s.tables.map((t) => {
		const id = newID('table');
		return el('section', {'aria-labelledby': id},
			el('h2', {id, dir: 'auto'}, t.name, t.kind === 'table' ? null : el('small', {}, ' ' + t.kind)),
			t.about ? el('p', {class: 'note', dir: 'auto'}, t.about) : null,
			el('div', {class: 'scroll', role: 'region', tabindex: '0', 'aria-label': 'Columns of ' + t.name}, el('table', {},
				el('thead', {}, el('tr', {}, ['Column', 'Type', 'Notes'].map((h) => el('th', {scope: 'col'}, h)))),
				el('tbody', {}, t.columns.map((c) => el('tr', {},
					el('th', {scope: 'row', dir: 'auto'}, c.name), el('td', {dir: 'auto'}, c.type), el('td', {dir: 'auto'}, c.notes)))))));
	}));
}

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
	const turn = talk.turns[talk.turns.length - 1];
	const missing = talk.state === 'answered' ? turn && turn.answer && !turn.answer.rows
		: talk.state === 'waiting' && turn && turn.question && turn.question.options.every((o) => o.sql && !o.rows);
	const key = talk.id + ' ' + talk.revision;
	if (!missing || again.has(key) || told && told.running) return;
	again.add(key);
	const id = talk.id;
	api('conversations/' + id + '/resume', {}).then(() => { if (page.id === id) load(); }, () => {});
}

function listen() {
	hang();
	if (page.kind !== 'talk' || document.visibilityState === 'hidden') return;
	const id = page.id, source = new EventSource('/api/conversations/' + id + '/events');
	stream = source;
	source.onmessage = (m) => {
		const news = JSON.parse(m.data), before = told;
		told = news;
		if (!talk || news.revision !== talk.revision || !before || news.running !== before.running) load();
		steps(news);
	};
	source.onerror = () => {
		told = null; // after a gap anything may have happened
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

function render(before) {
	const box = $('turns'), turns = talk.turns, busy = talk.state === 'running';
	if (talk.title) named(talk.title);
	let fresh = false;
	turns.forEach((t, i) => {
		const isLast = i === turns.length - 1, key = JSON.stringify([t, isLast]);
		if (drawn.get(i) === key) return;
		const a = article(t, i, isLast);
		if (box.children[i]) box.children[i].replaceWith(a);
		else box.append(a);
		drawn.set(i, key);
		fresh = true;
	});
	$('progress').hidden = !busy;
	if (busy && !(before && before.state === 'running')) {
		$('steps').replaceChildren();
		say('Finding the answer');
		if (mine === talk.id) $('progress-title').focus();
		if (told) steps(told);
	}
	actions();
	composer(talk.state);
	if (fresh && !busy && (mine === talk.id || before && before.state === 'running')) arrived();
}

// arrived tells of a new answer, and goes to it if this tab asked for it.
function arrived() {
	const t = talk.turns[talk.turns.length - 1];
	const what = t.confirmed ? 'Confirmed' : t.question ? 'The answers disagree. Choose one.' : t.failure ? 'There is no answer.'
		: t.answer ? 'Answer: ' + (t.answer.rows ? t.answer.rows.count : 'a statement') + ', confidence ' + percent(t.answer.confidence) : '';
	say(what);
	const heading = $('turns').lastElementChild && $('turns').lastElementChild.querySelector('[data-goal]');
	if (mine === talk.id && heading) {
		heading.focus();
		heading.closest('article').scrollIntoView({block: 'start'});
	}
	mine = '';
}

const percent = (x) => Math.round(100 * x) + ' %';

function steps(news) {
	if (!talk || talk.state !== 'running') return;
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

const by = {question: 'You asked', follow_up: 'You asked next', choice: 'You chose', correction: 'You corrected', confirmation: 'You confirmed'};

function article(t, i, isLast) {
	const id = newID('turn'), asked = t.kind === 'question' || t.kind === 'follow_up';
	const a = el('article', {'aria-labelledby': id},
		el('p', {class: 'by'}, by[t.kind] || t.kind),
		el('h2', {id, dir: 'auto'}, t.text || t.meaning || (asked ? '' : t.kind)),
		t.meaning && t.text && t.kind === 'correction' ? el('p', {class: 'meaning', dir: 'auto'}, 'Understood as: ' + t.meaning) : null);
	if (t.answer) a.append(...isLast ? answer(t, i) : [more('Show this answer', ...answer(t, i))]);
	if (t.question) a.append(choice(t.question));
	if (t.failure) a.append(...failure(t, i));
	return a;
}

function answer(t, i) {
	const a = t.answer, parts = [];
	parts.push(el('h3', {tabindex: '-1', 'data-goal': true}, a.rows ? 'Answer' : 'Statement'));
	if (a.rows) parts.push(...a.rows.charts ? a.rows.charts.map(figure) : [], grid(a.rows, 'Rows of the answer'));
	for (const w of a.warnings || []) parts.push(el('p', {class: 'warning', dir: 'auto'}, w));
	parts.push(el('div', {class: 'line'},
		el('p', {class: 'sure'}, 'Confidence', el('b', {}, percent(a.confidence)), bar(a.confidence, true)),
		t.confirmed ? el('p', {class: 'good'}, '✓ Confirmed by you') : null));
	if (a.why) parts.push(el('p', {class: 'note', dir: 'auto'}, a.why));
	parts.push(...statement(a.sql));
	const how = [];
	if (a.votes) how.push(el('ol', {class: 'votes'}, a.votes.map((v, n) => el('li', {},
		el('p', {class: 'label'}, el('span', {}, v.label + (n === 0 ? ', chosen' : '')), el('span', {}, v.votes)), bar(v.share, n === 0),
		(v.doubts || []).map((d) => el('p', {class: 'note', dir: 'auto'}, 'Doubt: ' + d)), el('pre', {tabindex: '0', dir: 'ltr'}, v.sql)))));
	if (a.without) how.push(el('h3', {}, 'Statements without a vote'), el('ul', {class: 'votes'}, a.without.map(([sql, why]) => el('li', {},
		el('p', {class: 'note', dir: 'auto'}, why), sql ? el('pre', {tabindex: '0', dir: 'ltr'}, sql) : null))));
	if (a.notes) how.push(el('h3', {}, 'Decisions'), el('ul', {class: 'list'}, a.notes.map((n) => el('li', {dir: 'auto'}, n))));
	if (how.length) parts.push(more('How the votes fell', ...how));
	parts.push(el('p', {class: 'line note'}, a.cost ? el('span', {}, a.cost) : null, a.trace ? page_of(t) : null));
	return parts;
}

const page_of = (t) => el('a', {href: '/trace/' + talk.id + '/' + t.place, target: '_blank', rel: 'noopener'}, 'Every step (new tab)');

function statement(sql) {
	const pre = el('pre', {tabindex: '0', dir: 'ltr'}, sql);
	return [el('div', {class: 'head'}, el('h3', {}, 'SQL'), button('Copy', () => copy(pre), {class: 'small', 'aria-label': 'Copy the SQL'})), pre];
}

async function copy(pre) {
	try {
		await navigator.clipboard.writeText(pre.textContent);
		say('Copied');
	} catch { // no leave, or no secure connection
		getSelection().selectAllChildren(pre);
		say('Selected: copy it with the keyboard');
	}
}

const bar = (share, lead) => draw('svg', {class: 'bar', viewBox: '0 0 1000 10', preserveAspectRatio: 'none', 'aria-hidden': 'true'},
	draw('rect', {class: 'track', width: 1000, height: 10}),
	draw('rect', {class: lead ? 'lead' : 'rest', width: 1000 * Math.min(1, Math.max(0, share)), height: 10}));

function grid(t, label) {
	const head = t.charts && t.charts.length > 0;
	return el('div', {class: 'scroll' + (t.rows.length === 1 && t.columns.length === 1 ? ' only' : ''), role: 'region', tabindex: '0', 'aria-label': label},
		el('table', {},
			el('caption', {}, t.count + (t.cut ? '; long values are shown in part' : '')),
			el('thead', {}, el('tr', {}, t.columns.map((c, i) => el('th', {scope: 'col', dir: 'auto', class: t.numeric[i] ? 'number' : null}, c)))),
			el('tbody', {}, t.rows.map((r) => el('tr', {}, r.map((v, i) => el(head && i === 0 ? 'th' : 'td', {
				scope: head && i === 0 ? 'row' : null, dir: 'auto', class: v === null ? 'null' : t.numeric[i] && !(head && i === 0) ? 'number' : null,
			}, v === null ? 'NULL' : v)))))));
}

function choice(q) {
	return el('section', {}, el('h3', {tabindex: '-1', 'data-goal': true, dir: 'auto'}, q.message.replace(/^./, (c) => c.toUpperCase())),
		el('ul', {class: 'choices'}, q.options.map((o, i) => {
			const name = newID('option');
			return el('li', {}, el('p', {id: name, dir: 'auto'}, o.label),
				o.rows ? grid(o.rows, 'Rows of answer ' + (i + 1)) : null,
				o.sql ? el('pre', {tabindex: '0', dir: 'ltr'}, o.sql) : null,
				button('Choose this', () => act('choose', {option: o.id}), {'aria-describedby': name, class: 'choose'}));
		})));
}

function failure(t, i) {
	const f = t.failure;
	return [
		el('h3', {tabindex: '-1', 'data-goal': true}, talk.state === 'failed' ? 'No answer' : 'Not answered yet'),
		el('p', {class: talk.state === 'failed' ? 'problem' : 'warning', dir: 'auto'}, f.error),
		f.advice ? el('ul', {class: 'advice'}, f.advice.map((a) => el('li', {dir: 'auto'}, a))) : null,
		f.attempts ? more('Statements that were tried', el('ul', {class: 'votes'}, f.attempts.map((a) => el('li', {},
			a.error ? el('p', {class: 'note', dir: 'auto'}, a.error) : null, el('pre', {tabindex: '0', dir: 'ltr'}, a.sql))))) : null,
		f.trace ? el('p', {class: 'line note'}, page_of(t)) : null,
	].filter(Boolean);
}

// ---- What can be done next.

function actions() {
	const last = talk.turns[talk.turns.length - 1];
	const key = [talk.id, talk.state, talk.turns.length, talk.left, last && last.confirmed].join();
	if (key === shape) return;
	shape = key;
	const parts = [], row = el('div', {class: 'row'});
	const asked = talk.turns.findLast((t) => t.kind === 'question' || t.kind === 'follow_up');
	if (talk.state === 'stopped') {
		row.append(button('Go on', () => act('resume'), {class: 'first'}));
		parts.push(el('p', {class: 'note'}, 'It goes on where it stopped. What was paid for is not paid for again.'));
	}
	if (talk.state === 'failed') row.append(button('Try again', () => act('resume')));
	if (talk.state === 'answered' && !last.confirmed) {
		const wording = asked.kind === 'follow_up' ? standalone() : null;
		row.append(button('This is right', () => {
			if (!wording) { act('confirm'); return; }
			wording.hidden = false;
			wording.querySelector('input').focus();
		}, {'aria-expanded': wording ? 'false' : null}));
		if (wording) parts.push(wording);
	}
	if (row.childNodes.length) parts.unshift(row);
	if (['answered', 'failed', 'waiting'].includes(talk.state)) parts.push(correction());
	$('actions').replaceChildren(...parts);
}

// standalone is the form for the wording of a follow-up, whose words mean nothing alone.
function standalone() {
	const input = el('input', {id: newID('wording'), type: 'text', maxlength: '8000', dir: 'auto', required: true});
	return el('form', {hidden: true, submit: (e) => { e.preventDefault(); act('confirm', {text: input.value}); }},
		el('label', {for: input.id}, 'The question, said so that it can be understood alone'), input,
		el('div', {class: 'row'}, el('button', {type: 'submit', class: 'first'}, 'Confirm')));
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
		el('p', {class: 'note'}, talk.left === 1 ? 'One correction is left for this question.' : talk.left + ' corrections are left for this question.')));
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
	$('question-label').textContent = first ? 'Your question' : 'A follow-up question';
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

const compact = new Intl.NumberFormat('en', {notation: 'compact', maximumFractionDigits: 2});
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
	const low = c.values.indexOf(Math.min(...c.values)), high = c.values.indexOf(Math.max(...c.values)), n = c.values.length;
	const id = newID('chart'), picture = draw('svg', {role: 'img', 'aria-labelledby': id, 'aria-describedby': id + '-more'});
	const described = (c.kind === 'line' ? 'A line of ' + n + ' points from ' + c.labels[0] + ' to ' + c.labels[n - 1] : n + ' bars')
		+ '. Lowest: ' + c.texts[low] + ' (' + c.labels[low] + '). Highest: ' + c.texts[high] + ' (' + c.labels[high] + '). The table below has all values.';
	const f = el('figure', {class: 'chart'}, el('figcaption', {id, dir: 'auto'}, c.title), picture, el('p', {class: 'unseen', id: id + '-more'}, described));
	let width = 0;
	new ResizeObserver(() => requestAnimationFrame(() => { // drawing changes the height
		const now = Math.floor(f.clientWidth);
		if (now > 0 && now !== width) (c.kind === 'line' ? line : bars)(picture, c, width = now);
	})).observe(f);
	return f;
}

function line(picture, c, width) {
	const height = 220, left = 52, right = 14, top = 8, bottom = 26, n = c.values.length;
	let low = Math.min(...c.values), high = Math.max(...c.values);
	if (low > 0 && low < .6 * high) low = 0;
	if (high < 0 && high > .6 * low) high = 0;
	if (low === high) { low -= 1; high += 1; }
	const marks = ticks(low, high, 4);
	const x = (i) => left + (width - left - right) * (c.at[i] - c.at[0]) / (c.at[n - 1] - c.at[0]);
	const y = (v) => top + (height - top - bottom) * (high - v) / (high - low);
	const parts = marks.flatMap((v) => [
		draw('line', {class: 'grid', x1: left, x2: width - right, y1: y(v), y2: y(v)}),
		draw('text', {x: left - 8, y: y(v) + 4, 'text-anchor': 'end'}, compact.format(v)),
	]);
	parts.push(draw('polyline', {class: 'curve', points: c.values.map((v, i) => x(i).toFixed(1) + ',' + y(v).toFixed(1)).join(' ')}));
	if (n <= 60) c.values.forEach((v, i) => parts.push(draw('circle', {class: 'dot', cx: x(i), cy: y(v), r: 3}, draw('title', {}, c.labels[i] + ': ' + c.texts[i]))));
	const room = 7 * Math.max(...c.labels.map((l) => short(l, 12).length)) + 24;
	let free = -Infinity;
	c.labels.forEach((label, i) => {
		const own = short(label, 12), half = 3.5 * own.length;
		const at = Math.min(width - half, Math.max(half, x(i)));
		if (i < n - 1 && (at < free || at > width - right - room) || i === n - 1 && at < free) return;
		parts.push(draw('text', {x: at, y: height - 6, 'text-anchor': 'middle'}, own));
		free = at + room;
	});
	picture.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
	picture.setAttribute('height', height);
	picture.replaceChildren(...parts);
}

function bars(picture, c, width) {
	const row = 26, n = c.values.length, letters = Math.max(6, Math.min(28, Math.floor(width * .35 / 7)));
	const left = 7 * Math.min(letters, Math.max(...c.labels.map((l) => [...l].length))) + 12, right = 8 * Math.max(...c.texts.map((t) => short(t, 12).length)) + 12;
	const low = Math.min(0, ...c.values), high = Math.max(0, ...c.values), span = high - low || 1;
	const x = (v) => left + (width - left - right) * (v - low) / span;
	picture.setAttribute('viewBox', '0 0 ' + width + ' ' + row * n);
	picture.setAttribute('height', row * n);
	picture.replaceChildren(...c.values.flatMap((v, i) => [
		draw('text', {x: left - 8, y: row * i + 17, 'text-anchor': 'end'}, short(c.labels[i], letters), draw('title', {}, c.labels[i])),
		draw('rect', {class: 'block', x: Math.min(x(0), x(v)), y: row * i + 4, width: Math.max(1, Math.abs(x(v) - x(0))), height: row - 8, rx: 2}),
		draw('text', {class: 'value', x: Math.max(x(0), x(v)) + 6, y: row * i + 17}, short(c.texts[i], 12)),
	]));
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
addEventListener('hashchange', route);
if (matchMedia('(max-width: 52rem)').matches) $('past').open = false;
route();
})();
