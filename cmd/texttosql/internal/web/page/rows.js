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
			if (!navigator.clipboard) { if (!await copy(await text)) throw null; return; }
			if (window.ClipboardItem) await navigator.clipboard.write([new ClipboardItem({'text/plain': text.then((t) => new Blob([t], {type: 'text/plain'}))})]);
			else await navigator.clipboard.writeText(await text);
			say('Copied');
		} catch {
			wrong.textContent = 'The browser does not let the page copy here: save it as CSV.';
		}
	};
	taken.push(el('span', {class: 'note'}, 'Save'), save('csv'), save('json'), el('span', {class: 'note'}, 'Copy'),
		button('Table', take('tsv'), {class: 'small', 'aria-label': 'Copy as a table for a spreadsheet'}),
		button('Markdown', take('md'), {class: 'small', 'aria-label': 'Copy as Markdown'}));
	box.append(el('div', {class: 'row tools'}, el('label', {for: find.id, class: 'unseen'}, 'Find in the rows'), find), wrong, held, pager);
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
