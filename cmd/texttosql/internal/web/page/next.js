// ---- What can be done next.

function actions() {
	const last = talk.turns.findLast((t) => !t.own);
	const key = [talk.id, talk.state, talk.revision, talk.turns.length, talk.left, last && last.confirmed].join();
	if (key === shape) return;
	shape = key;
	const parts = [], row = el('div', {class: 'row'}), add = (press, box) => { row.append(press); parts.push(box); };
	const asked = talk.turns.findLast((t) => t.kind === 'question' || t.kind === 'follow_up');
	if (talk.state === 'stopped' && !(last && last.failure && last.failure.final)) {
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
		const tried = last.failure && last.failure.attempts || [];
		add(...writing('Write the SQL', tried.length ? tried[tried.length - 1].sql : ''));
	}
	if (['failed', 'waiting'].includes(talk.state) && last) add(...panel(talk.state === 'waiting' ? 'None of these' : 'Something is wrong', correction()));
	if (row.childNodes.length) parts.unshift(row);
	$('actions').replaceChildren(...parts);
}

// judging is what can be said of the answer of a question: that it is right, or what is wrong. Its statement can be edited.
function judging(t, sql) {
	const all = [], asked = talk.turns.findLast((x) => x.kind === 'question' || x.kind === 'follow_up');
	if (talk.state === 'answered' && asked && !t.confirmed) {
		if (asked.kind === 'follow_up') all.push(...panel(mark('✓', 'Right'), standalone((text) => act('confirm', {text}))));
		else all.push(button(mark('✓', 'Right'), () => act('confirm')));
	}
	if (talk.state === 'answered') all.push(...panel(mark('✗', 'Wrong'), correction()));
	return [...all, ...writing('Edit SQL', sql, {'aria-label': 'Edit SQL and run it'})];
}

// mark is the text of a button with a sign in front.
const mark = (sign, text) => [el('span', {'aria-hidden': 'true'}, sign + ' '), text];

// panel is a button and what it opens.
function panel(name, ...children) {
	const box = el('div', {class: 'panel', hidden: true}, ...children);
	const press = button(name, () => {
		box.hidden = !box.hidden;
		press.setAttribute('aria-expanded', String(!box.hidden));
		const field = box.hidden ? null : box.querySelector('select, input, textarea');
		if (field) field.focus();
	}, {'aria-expanded': 'false'});
	return [press, box];
}

// standalone is the form for the wording of a follow-up, whose words mean nothing alone.
function standalone(keep) {
	const input = el('input', {id: newID('wording'), type: 'text', maxlength: '8000', dir: 'auto', required: true});
	return el('form', {submit: (e) => { e.preventDefault(); keep(input.value); }},
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
const remove = (id, title) => certain('Delete “' + short(title, 80) + '” for good?', 'Delete', async () => {
	await api('conversations/' + id, undefined, 'DELETE');
	say('Deleted');
	if (page.id === id) location.hash = '';
	else list();
});

// certain asks before something goes.
function certain(text, name, go) {
	const box = el('dialog', {'aria-label': text}, el('p', {dir: 'auto'}, text), el('div', {class: 'row'},
		button(name, () => {
			box.close();
			go().catch(complain);
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
	const fields = el('div'), lists = el('div', {hidden: true});
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
	}}, el('label', {for: pick.id}, 'What is wrong?'), pick, fields, lists,
	el('div', {class: 'row'}, el('button', {type: 'submit', class: 'first'}, 'Correct and ask again'),
		talk.left === 1 ? el('p', {class: 'note'}, 'This is the last correction of this question; then ask it in other words.') : null));
	form.addEventListener('focusin', async () => {
		try {
			known ||= await api('schema');
			lists.replaceChildren(
				el('datalist', {id: 'tables-known'}, known.tables.map((t) => el('option', {value: t.name}))),
				el('datalist', {id: 'columns-known'}, known.tables.flatMap((t) => t.columns.map((c) => el('option', {value: t.name + '.' + c.name})))));
		} catch { /* the names can be typed */ }
	}, {once: true});
	return form;
}

function composer(state) {
	const first = state === 'new';
	$('composer').hidden = !asks || !first && !['answered', 'failed', 'waiting'].includes(state);
	$('composer').classList.toggle('below', !first);
	$('question-label').textContent = first || !talk.turns.some((t) => !t.own) ? 'Your question' : 'A follow-up question';
	$('question').rows = 1;
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
	const submit = $('composer').querySelector('[type=submit]');
	submit.disabled = true;
	if (await begin(text)) $('question').value = '';
	submit.disabled = false;
}

// begin asks a question in a conversation of its own.
async function begin(text) {
	complain(null);
	try {
		const {id} = await api('conversations', {question: text});
		[mine, since] = [id, -1];
		location.hash = 'c/' + id;
		return true;
	} catch (e) {
		complain(e);
		return false;
	}
}
