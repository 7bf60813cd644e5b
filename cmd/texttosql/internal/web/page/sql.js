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
	const text = pretty(sql), parts = [];
	pre.dataset.sql = sql;
	if (text.length > 20000) parts.push(text);
	else SQLEditor.pieces(text, engine, (piece, classes) => parts.push(classes ? el('span', {class: classes}, piece) : piece));
	pre.replaceChildren(...parts);
}

function code(sql) {
	const pre = el('pre', {tabindex: '0', dir: 'ltr'});
	paint(pre, sql);
	return pre;
}

// statement shows the SQL of an answer, folded.
function statement(sql) {
	const pre = code(sql);
	return el('details', {class: 'more sql'}, el('summary', {}, 'SQL'), el('div', {class: 'row copies'}, button('Copy', (e) => copy(pre.textContent, e.currentTarget), {class: 'small', 'aria-label': 'Copy the SQL'})), pre);
}

// writing is a button that opens an editor, and the place for that.
function writing(name, sql, props) {
	const box = el('div'), edit = button(name, () => editor(box, edit, sql), props);
	return [edit, box];
}

// names are the columns of each table, which the editor completes.
async function names() {
	try {
		known ||= await api('schema');
		return Object.fromEntries(known.tables.map((t) => [t.name, t.columns.map((c) => c.name)]));
	} catch {
		return {}; // they can be typed
	}
}

const drafts = new Map(); // what was written and not run, by conversation and statement

async function editor(box, edit, sql) {
	const place = (talk ? talk.id : '') + ' ' + sql, begun = drafts.get(place);
	const label = 'Your own SQL, one statement that reads', field = el('div', {class: 'editor'});
	const wrong = el('p', {class: 'problem', role: 'alert', dir: 'auto', hidden: true}), run = el('button', {type: 'submit', class: 'first'}, 'Run');
	const close = (keep = true) => {
		if (keep && written && written.state.doc.toString() !== pretty(sql)) drafts.set(place, written.state.doc.toString());
		else drafts.delete(place);
		box.replaceChildren();
		edit.hidden = false;
		edit.focus();
	};
	const anew = begun === undefined ? null : button('Drop the draft', () => {
		written.dispatch({changes: {from: 0, to: written.state.doc.length, insert: pretty(sql)}});
		anew.remove();
		written.focus();
	});
	let written = null;
	const form = el('form', {submit: async (e) => {
		e.preventDefault();
		if (!written || run.disabled) return;
		wrong.hidden = run.disabled = true;
		say('Running the statement');
		try {
			const talking = page.kind === 'talk', {id} = await api(talking ? 'conversations/' + talk.id + '/query' : 'query', {sql: written.state.doc.toString()});
			ran = true;
			close(false);
			if (talking) await load();
			else location.hash = 'c/' + id;
		} catch (failed) {
			wrong.textContent = failed.error;
			wrong.hidden = false;
			written.focus();
		}
		run.disabled = false;
	}}, el('p', {class: 'label', 'aria-hidden': 'true'}, label), field, wrong,
	el('div', {class: 'row'}, el('p', {class: 'note'}, 'Control and Enter runs it. It only reads, and no model is asked.'), anew, button('Close', () => close()), run));
	box.replaceChildren(form);
	edit.hidden = true;
	const schema = await names();
	if (!form.isConnected) return;
	written = SQLEditor.editor({parent: field, doc: begun ?? pretty(sql), engine, schema, label, run: () => form.requestSubmit(), close: () => close()});
	written.focus();
}

// copy puts a text on the clipboard. Without a secure connection a browser has the old way alone.
async function copy(text, pressed) {
	let done = true;
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		const field = el('textarea', {class: 'unseen', 'aria-hidden': 'true', tabindex: '-1'}), at = document.activeElement;
		field.value = text;
		document.body.append(field);
		field.select();
		done = document.execCommand('copy');
		field.remove();
		at.focus();
	}
	say(done ? 'Copied' : 'The browser does not let the page copy');
	if (pressed) pressed.textContent = done ? 'Copied' : pressed.textContent;
	return done;
}

const bar = (share, lead) => draw('svg', {class: 'bar', viewBox: '0 0 1000 10', preserveAspectRatio: 'none', 'aria-hidden': 'true'},
	draw('rect', {class: 'track', width: 1000, height: 10}),
	draw('rect', {class: lead ? 'lead' : 'rest', width: 1000 * Math.min(1, Math.max(0, share)), height: 10}));
