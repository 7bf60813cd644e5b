// rows_of are the rows of an answer, a page at a time, to be sorted and searched; taken has what takes them along.
function rows_of(t, first, taken) {
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
	const counted = el('p', {class: 'note count'});
	const show = (page) => {
		const many = first.total > 1;
		counted.textContent = told_of(page);
		held.replaceChildren(grid(page, label, many ? at : null, turn));
		held.querySelector('caption').classList.toggle('unseen', many);
		pager.hidden = page.total <= page.rows.length;
		pager.replaceChildren(el('p', {class: 'note'}, page.rows.length ? 'Rows ' + (page.from + 1).toLocaleString() + ' to ' + (page.from + page.rows.length).toLocaleString() + ' of ' + (page.count.startsWith('the first ') ? 'the first ' : '') + page.total.toLocaleString() : 'No row'),
			button('Back', () => turn({from: before.pop() || 0}, '.back'), {class: 'small back', disabled: page.from === 0, 'aria-label': 'Back to the rows before'}),
			button('Next', () => { before.push(page.from); turn({from: page.from + page.rows.length}, '.next'); }, {class: 'small next', disabled: page.from + page.rows.length >= page.total, 'aria-label': 'Next rows'}));
	};
	show(first);
	const save = (form, name) => el('a', {href: '/api' + query('&save&form=' + form), download: 'rows.' + form, click: (e) => {
		e.currentTarget.setAttribute('href', '/api' + query('&save&form=' + form)); // as they are ordered and found now
	}}, name);
	const take = (form) => async (e) => {
		const pressed = e.currentTarget;
		try {
			const text = fetch('/api' + query('&form=' + form)).then((r) => r.ok ? r.text() : Promise.reject(r));
			if (!navigator.clipboard) { if (!await copy(await text)) throw null; return; }
			if (window.ClipboardItem) await navigator.clipboard.write([new ClipboardItem({'text/plain': text.then((t) => new Blob([t], {type: 'text/plain'}))})]);
			else await navigator.clipboard.writeText(await text);
			pressed.textContent = 'Copied';
			say('Copied');
		} catch {
			wrong.textContent = 'The browser does not let the page copy here: download it as CSV.';
		}
	};
	if (single(first) === null) taken.files.push(save('csv', 'CSV'), save('xlsx', 'Excel'), save('json', 'JSON'));
	taken.copies.push(button('Table', take('tsv'), {'aria-label': 'Copy as a table for a spreadsheet'}), button('Markdown', take('md'), {'aria-label': 'Copy as Markdown'}));
	if (first.total < 2) { box.append(wrong, held); return box; }
	const find = el('input', {id: newID('find'), type: 'search', placeholder: 'Find in the rows', autocomplete: 'off', dir: 'auto'});
	let wait = 0;
	find.addEventListener('input', () => { clearTimeout(wait); wait = setTimeout(() => turn({find: find.value}), 150); });
	box.append(el('div', {class: 'row tools'}, counted, el('label', {for: find.id, class: 'unseen'}, 'Find in the rows'), find), wrong, held, pager);
	return box;
}

// told_of tells how many rows there are and how they are shown.
const told_of = (t) => t.count.replace(/^./, (c) => c.toUpperCase()) + (t.moments.includes(true) ? '; times in ' + zone() : '') + (t.cut ? '; long values are shown in part' : '');

// zone is the reader's, in which moments are shown.
const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

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
	const named = t.charts && t.charts.length > 0; // the first column names the rows
	const number = (i) => t.numeric[i] && !(named && i === 0);
	return el('div', {class: 'scroll', role: 'region', tabindex: '0', 'aria-label': label}, el('table', {}, el('caption', {}, told_of(t)),
		el('thead', {}, el('tr', {}, t.columns.map((c, i) => {
			const on = at && at.sort === i + 1, name = el('bdi', {}, c || '(no name)');
			return el('th', {scope: 'col', class: number(i) ? 'number' : null, 'aria-sort': on ? at.down ? 'descending' : 'ascending' : null},
				at ? button(name, () => turn(on && at.down ? {sort: 0, down: false} : {sort: i + 1, down: Boolean(on)}, 'th:nth-child(' + (i + 1) + ') button'), {class: 'sort'}) : name);
		}))),
		el('tbody', {}, t.rows.map((r) => el('tr', {}, r.map((v, i) => el(named && i === 0 ? 'th' : 'td', {
			scope: named && i === 0 ? 'row' : null, class: [v === null ? 'null' : '', number(i) ? 'number' : ''].join(' ').trim() || null,
			title: v !== null && t.moments[i] ? v : null, // as the database wrote it
		}, v === null ? 'NULL' : value(local(v, t.moments[i], t.numeric[i])))))))));
}

// value is what stands in a cell, in the direction of its own text. A long one shows two lines until it is opened.
function value(text) {
	if (text.length < 60 && !text.includes('\n')) return el('bdi', {}, text);
	const box = el('bdi', {class: 'long', role: 'button', tabindex: '0', 'aria-expanded': 'false', click: () => {
		if (String(getSelection())) return; // a part of it is being selected
		box.setAttribute('aria-expanded', String(box.getAttribute('aria-expanded') === 'false'));
	}, keydown: (e) => {
		if (e.key !== 'Enter' && e.key !== ' ') return;
		e.preventDefault();
		box.click();
	}}, text);
	return box;
}
