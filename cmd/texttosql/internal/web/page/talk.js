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
		const isLast = i >= at, key = JSON.stringify([t, isLast, isLast && [talk.state, talk.left]]);
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
	if (held) [mine, since] = [talk.id, -1];
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
	if (fresh && !busy && (mine === talk.id && talk.revision > since || before && before.state === 'running')) arrived();
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
		: t.answer ? 'Answer: ' + (t.answer.found || (t.answer.rows ? t.answer.rows.count : 'a statement')) + ' ' + t.answer.closing : '';
	say(what);
	const heading = [...$('turns').querySelectorAll('[data-goal]')].pop();
	if (mine === talk.id && heading) {
		heading.focus();
		heading.closest('article').scrollIntoView({block: 'start'});
	}
	mine = '';
}

const percent = (x) => Math.round(100 * x) + ' %';

// inLine tells of a place among the questions that wait for others to end.
const inLine = (n) => n === 1 ? 'The next one: other questions are being answered.' : ['', '', 'Second', 'Third', 'Fourth', 'Fifth'][n] ? ['', '', 'Second', 'Third', 'Fourth', 'Fifth'][n] + ' in line.' : 'Number ' + n + ' in line.';

function steps(news) {
	if (!talk || talk.state !== 'running') return;
	$('elapsed').textContent = news.line ? inLine(news.line) : news.busy ? 'The model is busy; trying again in ' + news.busy + ' s.' : news.elapsed ? Math.round(news.elapsed / 1000) + ' s so far' : '';
	if (news.line && $('status').textContent !== inLine(news.line)) say(inLine(news.line));
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

const by = {choice: 'You chose', correction: 'You corrected'};

function article(t, i, isLast) {
	const id = newID('turn'), asked = t.kind === 'question' || t.kind === 'follow_up';
	const a = el('article', {'aria-labelledby': id, 'data-place': t.place, class: t.own ? 'mine' : null},
		by[t.kind] ? el('p', {class: 'by'}, by[t.kind]) : null,
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

// single is the text of a result that is one value; null of any other.
function single(rows) {
	const text = rows && rows.total === 1 && rows.columns.length === 1 && rows.rows.length ? rows.rows[0][0] : null;
	return text !== null && text.length <= 24 ? local(text, rows.moments[0], rows.numeric[0]) : null;
}

// titled is what the columns of a result say, where its statement is not read.
const titled = (rows) => (!rows ? 'Statement' : rows.charts && rows.charts.length ? rows.charts[0].title : rows.count).replace(/^./, (c) => c.toUpperCase());

// headline says first what was found, and below it what was computed. One value stands large, above its words.
function headline(of, rows) {
	const one = single(rows), says = of.says || (one ? of.found || rows.columns[0] : ''), text = one ?? (of.found || says || titled(rows));
	return [el('h3', {tabindex: '-1', 'data-goal': true, dir: 'auto', class: one ? 'one' : 'found'}, text),
		says && says !== text ? el('p', {class: 'says', dir: 'auto'}, says) : null];
}

function answer(t, isLast) {
	const a = t.answer, taken = {files: [], copies: []}, id = newID('why');
	const why = el('div', {id, class: 'why', hidden: true}, ...reasons(a));
	const opens = button('Why?', () => {
		why.hidden = !why.hidden;
		opens.setAttribute('aria-expanded', String(!why.hidden));
	}, {class: 'link', 'aria-expanded': 'false', 'aria-controls': id});
	return [...headline(a, a.rows), el('p', {class: 'level ' + (t.confirmed ? '' : a.level)}, confirmed(t), el('b', {dir: 'auto'}, a.closing), ' ', opens, isLast && asks ? insists(a) : null), why,
		...(a.grounds || []).map(ground), ...(a.remarks || []).map((r) => remark(r, isLast)),
		...(a.warnings || []).map((w) => el('p', {class: 'remark warned', dir: 'auto'}, w)),
		a.rows ? shown(t, a.rows, taken) : isLast ? null : absent(t),
		...does(t, taken, isLast ? judging(t, a.sql) : [], a.trace), statement(a.sql), isLast ? following(a.next || []) : null].filter(Boolean);
}

// insists asks again for a time that the question says and the statement does not.
function insists(a) {
	const said = /the question says (.+?), (?:and )?the statement/.exec(a.closing);
	return said ? [' ', button('Ask with ' + said[1], () => act('ask', {question: 'With ' + said[1]}), {class: 'link'})] : null;
}

// remark tells of rows that usually do not count. The answer without them can be asked for.
function remark(text, isLast) {
	const [, table, what] = /^Some rows of (.+?) ((?:are|have|were) .+?)\. Without them/.exec(text) || /^[\d,]+ (.+?)\. [\d,]+ of them (.+?); without them/.exec(text) || [];
	return el('p', {class: 'remark', dir: 'auto'}, text, table && isLast && asks ? [' ', button('Leave them out', () => act('ask', {question: 'Leave out the rows of ' + table + ' that ' + what}), {class: 'link'})] : null);
}

// confirmed tells who found an answer right.
const confirmed = (t, as = '') => t.confirmed ? el('span', {class: 'good', title: 'It is an example for later questions, and the same question gets it without a model.'}, '✓ Confirmed by ' + (t.by || 'you') + as + ' ') : null;

// shown are the charts of a result and its rows, side by side where there is room.
function shown(t, rows, taken) {
	const charts = (rows.charts || []).map((c, i) => figure(c, talk.id + '/' + t.place + '/' + i)), table = rows_of(t, rows, taken);
	return el('div', {class: 'shown'}, charts.length ? el('div', {class: 'charts'}, charts) : null, single(rows) === null ? table : null);
}

// ground says on what an answer stands. The parameters of a verified question can be changed: then that question is asked, of which the
// answer is known too.
function ground(g) {
	const asked = talk.turns.findLast((x) => x.kind === 'question' || x.kind === 'follow_up');
	const params = Object.entries(g.params || {}).filter(([, value]) => asked && asked.text.toLowerCase().includes(value.toLowerCase()));
	const text = el('p', {class: 'note', dir: 'auto'}, 'It is ' + g.text + '.');
	if (!params.length) return text;
	const fields = params.map(([name, value]) => {
		const input = el('input', {id: newID('param'), type: 'text', maxlength: '500', dir: 'auto', required: true});
		input.value = value;
		return [name, value, input];
	});
	return el('div', {}, text, el('form', {class: 'params', submit: (e) => {
		e.preventDefault();
		let question = asked.text;
		for (const [, value, input] of fields) {
			const at = question.toLowerCase().indexOf(value.toLowerCase());
			question = question.slice(0, at) + input.value.trim() + question.slice(at + value.length);
		}
		begin(question);
	}}, fields.map(([name, , input]) => [el('label', {for: input.id}, name.replaceAll('_', ' ')), input]), el('button', {type: 'submit', class: 'small'}, 'Ask with this')));
}

// menu is a button with what it offers below it.
function menu(name, items) {
	const box = el('details', {class: 'menu'}, el('summary', {}, name), el('div', {}, items));
	const shut = () => { box.open = false; };
	box.addEventListener('click', (e) => { if (e.target.closest('a, button')) setTimeout(shut, 600); }); // after its button said that it is done
	box.addEventListener('keydown', (e) => { if (e.key === 'Escape' && box.open) { e.stopPropagation(); shut(); box.firstChild.focus(); } });
	box.addEventListener('focusout', (e) => { if (e.relatedTarget && !box.contains(e.relatedTarget)) shut(); });
	return box;
}

// does is the bar under an answer: right, wrong, edit, download, copy. What its buttons open stands below it.
function does(t, taken, judged, traced) {
	const bar = judged.filter((e) => e.tagName === 'BUTTON'), below = judged.filter((e) => e.tagName !== 'BUTTON');
	const link = button('Link', async (e) => {
		const at = e.currentTarget, address = location.href.split('#')[0] + '#c/' + talk.id + '/' + t.place;
		if (!await copy(address, at)) at.replaceWith(el('input', {class: 'address', 'aria-label': 'Link to this answer', value: address, readonly: true}));
	}, {'aria-label': 'Copy link'});
	return [el('div', {class: 'row does', role: 'group', 'aria-label': 'What to do with this answer'}, bar, taken.files.length ? menu('Download', taken.files) : null,
		menu('Copy', [...taken.copies, link]), traced ? page_of(t) : null), ...below];
}

// following are questions that may come next.
const following = (all) => all.length ? el('ul', {class: 'offers', 'aria-label': 'Questions that may come next'}, all.map((q) =>
	el('li', {}, button(q, () => act('ask', {question: q}), {dir: 'auto'})))) : null;

// reasons say why a confidence is what it is.
function reasons(a) {
	const how = [el('p', {dir: 'auto'}, 'Confidence ' + percent(a.confidence) + '. ' + (a.why || 'How it was found is not in memory any more.'))];
	if (a.votes) how.push(el('h4', {}, 'How the votes fell'), el('ol', {class: 'votes'}, a.votes.map((v, n) => el('li', {},
		el('p', {class: 'label'}, el('span', {}, v.label + (n === 0 ? ', chosen' : '')), el('span', {}, v.votes)), bar(v.share, n === 0),
		(v.doubts || []).map((d) => el('p', {class: 'note', dir: 'auto'}, 'Doubt: ' + d)), code(v.sql)))));
	if (a.without) how.push(el('h4', {}, 'Statements without a vote'), el('ul', {class: 'votes'}, a.without.map(([sql, why]) => el('li', {},
		el('p', {class: 'note', dir: 'auto'}, why), sql ? code(sql) : null))));
	if (a.notes) how.push(el('h4', {}, 'Decisions'), el('ul', {class: 'list'}, a.notes.map((n) => el('li', {dir: 'auto'}, n))));
	if (a.cost) how.push(el('p', {class: 'note'}, 'It took ' + a.cost + '.'));
	return how;
}

// mine_of is a statement that the person ran.
function mine_of(t, i) {
	const asked = talk.turns.slice(0, i).findLast((x) => x.kind === 'question' || x.kind === 'follow_up'), taken = {files: [], copies: []};
	const keep = (text) => api('conversations/' + talk.id + '/keep', {turn: t.place, text: text || ''}).then(() => { say('Confirmed'); load(); }, complain);
	const right = t.confirmed ? [] : asked && asked.kind === 'question' ? [button('Mine is right', () => keep())] : panel('Mine is right', standalone(keep));
	const [head, words] = headline(t.own, t.own.rows);
	head.removeAttribute('data-goal');
	return [head, words, el('p', {class: 'level'}, confirmed(t, ' as the answer' + (asked ? ' to “' + short(asked.text, 80) + '”' : '')), el('b', {}, t.own.closing), ' It ran under the same guard and limits.'),
		t.own.rows ? shown(t, t.own.rows, taken) : absent(t),
		...does(t, taken, [...right, ...writing('Edit SQL', t.text, {'aria-label': 'Edit SQL and run it'})]), statement(t.text)].filter(Boolean);
}

const page_of = (t) => el('a', {class: 'steps', href: '/trace/' + talk.id + '/' + t.place, target: '_blank', rel: 'noopener'}, 'Every step', el('span', {class: 'unseen'}, ' (new tab)'));

function choice(q) {
	return el('section', {}, el('h3', {tabindex: '-1', 'data-goal': true, dir: 'auto', class: 'found'}, q.message.replace(/^./, (c) => c.toUpperCase())),
		el('ul', {class: 'choices'}, q.options.map((o, i) => {
			const name = newID('option');
			return el('li', {}, el('h4', {id: name, dir: 'auto'}, (i + 1) + '. ' + (o.says || o.label)),
				el('p', {class: 'note', dir: 'auto'}, o.shows || (o.says ? o.label : '')),
				o.rows ? grid(o.rows, 'Rows of answer ' + (i + 1)) : null,
				el('div', {class: 'row'}, button('This one', () => act('choose', {option: o.id}), {'aria-describedby': name, class: 'choose'})),
				o.sql ? more('SQL', code(o.sql)) : null);
		})));
}

function failure(t, i) {
	const f = t.failure;
	return [
		el('h3', {tabindex: '-1', 'data-goal': true, class: 'found'}, talk.state === 'failed' ? 'No answer' : 'Not answered yet'),
		el('p', {class: talk.state === 'failed' ? 'problem' : 'warning', dir: 'auto'}, f.error),
		f.advice ? el('ul', {class: 'advice'}, f.advice.map((a) => el('li', {dir: 'auto'}, a))) : null,
		f.attempts ? more('Statements that were tried', el('ul', {class: 'votes'}, f.attempts.map((a) => el('li', {},
			a.error ? el('p', {class: 'note', dir: 'auto'}, a.error) : null, code(a.sql))))) : null,
		f.trace ? el('p', {class: 'line'}, page_of(t)) : null,
	].filter(Boolean);
}
