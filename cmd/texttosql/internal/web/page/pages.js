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
	document.title = title.slice(0, 80) + ' · ' + $('company').textContent;
}

function blank(title, lead) {
	talk = null;
	named(title);
	$('lead').textContent = lead || '';
	$('lead').hidden = !lead;
	for (const id of ['gate', 'progress', 'composer', 'write', 'suggested', 'saved', 'last', 'schema', 'manage']) $(id).hidden = true;
	for (const id of ['turns', 'actions', 'tables', 'kept', 'lasts', 'manage', 'write']) $(id).replaceChildren();
	drawn.clear();
	shape = '';
	complain(null);
	say('');
}

async function route() {
	const hash = location.hash.slice(1);
	const to = /^c\/(.*?)(?:\/(\d+))?$/.exec(hash); // a conversation, and the place of an answer in it
	const next = ['schema', 'saved'].includes(hash) ? {kind: hash, id: ''} : to ? {kind: 'talk', id: to[1], at: to[2]} : {kind: 'new', id: ''};
	const first = page.kind === '';
	hang();
	page = next;
	for (const [a, kind] of [[$('to-new'), 'new'], [$('to-schema'), 'schema'], [$('to-saved'), 'saved']]) {
		if (next.kind === kind) a.setAttribute('aria-current', 'page');
		else a.removeAttribute('aria-current');
	}
	const listed = list();
	if (next.kind === 'schema') {
		blank('Tables', 'What a question can be about.');
		if (!first) $('title').focus();
		await tables(next);
	} else if (next.kind === 'saved') {
		blank('Saved answers', 'What a person found right. The same question gets such an answer again without a model, and others are asked with it as an example.');
		if (!first) $('title').focus();
		await saved(next);
	} else if (next.kind === 'new') {
		await listed;
		if (page !== next) return;
		if (asks) blank('What do you want to know?');
		else blank('Look at the data', 'No model is set up, so no question can be asked. A statement of your own that only reads can be run.');
		composer('new');
		const [write, box] = writing('Write the SQL yourself', '', {class: asks ? 'link' : 'first'});
		$('write').replaceChildren(write, box);
		$('write').hidden = false;
		if (asks) $('question').focus();
		else if (!first) $('title').focus();
		offer(next);
		saved(next);
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
		if (document.title.endsWith(' · ' + $('company').textContent)) document.title = document.title.slice(0, -$('company').textContent.length) + all.title;
		$('company').textContent = all.title;
		$('database').textContent = all.database;
		$('who').textContent = all.who ? 'Signed in as ' + all.who + (all.scope && all.scope !== all.who ? ', rows of ' + all.scope : '') : '';
		$('who').hidden = !all.who;
		asks = all.asks;
		if (engine !== all.engine) {
			engine = all.engine;
			for (const pre of document.querySelectorAll('pre[data-sql]')) paint(pre, pre.dataset.sql);
		}
		$('list').replaceChildren(...all.conversations.map((c) => el('li', {}, c.state === 'broken'
			? [el('p', {class: 'broken'}, c.title + ' ', el('small', {}, c.id.slice(0, 8))), button('Delete', () => remove(c.id, c.title), {class: 'small', 'aria-label': 'Delete the conversation ' + c.id.slice(0, 8)})]
			: el('a', {href: '#c/' + c.id, 'aria-current': page.id === c.id ? 'page' : null},
				el('span', {dir: 'auto'}, c.title || 'No question yet'),
				el('small', {}, states[c.state] || when(c.updated))))));
		if (!all.conversations.length) $('list').append(el('li', {class: 'note'}, find ? 'None has these words.' : 'None yet.'));
		if (all.more) $('list').append(el('li', {class: 'note'}, all.more + ' older ones: find them by their words.'));
	} catch (e) {
		if (page.kind !== 'gate') complain(e);
	}
}

// when is a time as a person says it: "today, 09:41", "Tuesday, 09:41", "3 Feb 2026".
function when(text, short) {
	const at = new Date(text), midnight = (d) => new Date(d.getFullYear(), d.getMonth(), d.getDate()).getTime();
	const days = Math.round((midnight(at) - midnight(new Date())) / 86400000), clock = at.toLocaleTimeString(undefined, {hour: 'numeric', minute: '2-digit'});
	if (days < -6 || days > 0) return at.toLocaleDateString(undefined, {day: 'numeric', month: 'short', year: 'numeric'});
	const day = days < -1 ? at.toLocaleDateString(undefined, {weekday: 'long'}) : new Intl.RelativeTimeFormat(undefined, {numeric: 'auto'}).format(days, 'day');
	return short ? day : day + ', ' + clock;
}

const onFirst = 6; // saved answers on the first page

// saved shows what was confirmed, each with the figure of its last run. One that has none runs, one after the other.
async function saved(now) {
	try {
		const {answers, billed} = await api('saved'), first = now.kind === 'new';
		if (page !== now) return;
		const shown = first ? answers.slice(0, onFirst) : answers;
		$('kept').replaceChildren(...shown.map((s) => keptCard(s, first)));
		if (!answers.length) $('kept').append(el('li', {class: 'note'}, 'None yet. “Right” below an answer saves it.'));
		$('more-kept').hidden = shown.length === answers.length;
		$('saved').hidden = first && !answers.length;
		$('saved-title').classList.toggle('unseen', !first);
		if (!billed) for (const box of [...$('kept').children].slice(0, 24)) if (box.look) box.look();
	} catch (e) {
		if (page === now) complain(e);
	}
}

// figured is what a card shows of rows.
const figured = (c) => !c.figure ? null : [el('strong', {dir: 'auto', class: c.short ? null : 'words'}, c.short ? local(c.figure, false, true) : c.figure.replace(/^./, (l) => l.toUpperCase()))];

// keptCard is a saved answer: what it showed last, who saved it, and what can be done with it.
function keptCard(s, first) {
	const wrong = el('p', {class: 'note', role: 'alert', dir: 'auto'}), found = el('div'), drawn = el('div'), date = el('span');
	const show = () => {
		found.replaceChildren(...figured(s) || []);
		drawn.replaceChildren(...s.spark ? [spark(s.spark)] : []);
		date.textContent = s.ran ? ' · run ' + when(s.ran) : '';
	};
	const run = async () => {
		try {
			Object.assign(s, await api('saved/' + s.id + '/run', {}));
			show();
		} catch (e) { wrong.textContent = e.error; }
	};
	const open = async () => {
		try {
			ran = true;
			location.hash = 'c/' + (await api('query', {sql: s.sql, question: s.question})).id;
		} catch (e) { ran = false; wrong.textContent = e.error; }
	};
	const box = el('li', {class: 'card'}, el('h3', {dir: 'auto'}, button(s.question, open, {class: 'whole', 'aria-label': 'Open: ' + s.question})), found,
		el('p', {class: 'note'}, s.by ? 'Verified by ' + s.by : 'Verified', s.at ? ', ' + when(s.at, true) : '', date), drawn, wrong,
		first ? null : [s.tags ? el('p', {class: 'tags'}, s.tags.map((t) => el('span', {dir: 'auto'}, t))) : null,
			el('div', {class: 'row'}, button('Run again', run, {class: 'small', 'aria-label': 'Run again: ' + s.question}),
				el('a', {class: 'button', href: '/saved/' + s.id + '.csv', 'aria-label': 'CSV: ' + s.question}, 'CSV'), el('a', {class: 'button', href: '/saved/' + s.id + '.json', 'aria-label': 'JSON: ' + s.question}, 'JSON'),
				button('Remove', () => certain('Remove “' + short(s.question, 80) + '” from the saved answers?', 'Remove', async () => {
					await api('saved/' + s.id, undefined, 'DELETE');
					say('Removed');
					saved(page);
				}), {class: 'small', 'aria-label': 'Remove: ' + s.question})), more('SQL', code(s.sql))]);
	box.look = () => s.ran || queue(() => box.isConnected && run());
	show();
	return box;
}

// offer shows questions to begin with, which are asked at once, and the answers that were asked last.
async function offer(now) {
	try {
		const all = await api('start');
		if (page !== now) return;
		$('suggestions').replaceChildren(...all.suggested.slice(0, 3).map((q) => el('li', {}, button(q, () => begin(q), {dir: 'auto'}))));
		$('suggested').hidden = !asks || !all.suggested.length;
		if (asks && all.suggested.length) $('question').placeholder = 'For example: ' + all.suggested[0];
		$('lasts').replaceChildren(...all.last.map(lastCard));
		$('last').hidden = !all.last.length;
		const missing = all.billed ? [] : all.last.filter((c) => !c.figure && !again.has(c.id + c.place));
		for (const c of missing) queue(async () => { // rows that are in memory no more are read again
			if (page !== now || again.has(c.id + c.place)) return;
			again.add(c.id + c.place);
			await api('conversations/' + c.id + '/rows/' + c.place).then(() => c === missing[missing.length - 1] && offer(now), () => {});
		});
	} catch { /* a question can be typed */ }
}

const lastCard = (c) => el('li', {class: 'card'}, el('h3', {dir: 'auto'}, el('a', {class: 'whole', href: '#c/' + c.id + '/' + c.place}, c.question)), figured(c),
	el('p', {class: 'note', dir: 'auto'}, c.closing), c.spark ? spark(c.spark) : null);

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
	const count = el('small', {class: 'count'}, ''), rows = el('div');
	const box = el('details', {class: 'table', open}, el('summary', {}, el('b', {dir: 'auto'}, t.name), t.kind === 'table' ? null : el('small', {}, ' ' + t.kind),
		count, el('span', {class: 'note', dir: 'auto'}, ' ' + (t.about || t.columns.length + (t.columns.length === 1 ? ' column' : ' columns')))),
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
			count.textContent = s.count;
			if (s.rows && s.rows.rows.length) rows.replaceChildren(el('h3', {}, 'Some rows'), grid(s.rows, 'Rows of ' + t.name));
		} catch { /* its columns are shown */ }
	});
	box.addEventListener('toggle', () => { if (box.open) box.look(); });
	return box;
}

// queue runs one after the other: a database has few connections.
let last = Promise.resolve();
const queue = (f) => last = last.then(f, f);
