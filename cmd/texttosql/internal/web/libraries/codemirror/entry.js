// What the page takes of CodeMirror: an editor of SQL, and the pieces of a statement that have colours.
import {EditorState} from '@codemirror/state';
import {EditorView, keymap, drawSelection} from '@codemirror/view';
import {defaultKeymap, history, historyKeymap} from '@codemirror/commands';
import {autocompletion, completionKeymap, closeBrackets, closeBracketsKeymap} from '@codemirror/autocomplete';
import {sql, SQLite, PostgreSQL, MySQL, MariaSQL, StandardSQL} from '@codemirror/lang-sql';
import {syntaxHighlighting, bracketMatching} from '@codemirror/language';
import {classHighlighter, highlightCode} from '@lezer/highlight';

const dialects = {sqlite: SQLite, postgresql: PostgreSQL, postgres: PostgreSQL, duckdb: PostgreSQL, mysql: MySQL, mariadb: MariaSQL, bigquery: MySQL};
const dialect = (name) => dialects[name] || StandardSQL;

// pieces calls put(text, classes) for each piece of a statement.
export function pieces(text, engine, put) {
	highlightCode(text, dialect(engine).language.parser.parse(text), classHighlighter, put, () => put('\n', ''));
}

// editor makes an editor in parent. schema has the columns of each table. run is called by Control and Enter, close by Escape.
export function editor({parent, doc, engine, schema, label, run, close}) {
	const key = (name, f) => keymap.of([{key: name, preventDefault: true, stopPropagation: true, run: () => { f(); return true; }}]);
	return new EditorView({parent, state: EditorState.create({doc, extensions: [
		key('Mod-Enter', run), history(), drawSelection(), bracketMatching(), closeBrackets(), autocompletion({icons: false}),
		sql({dialect: dialect(engine), schema, upperCaseKeywords: true}), syntaxHighlighting(classHighlighter), EditorView.lineWrapping,
		keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap.filter((k) => k.key !== 'Escape')]), key('Escape', close),
		EditorView.contentAttributes.of({'aria-label': label, spellcheck: 'false', autocapitalize: 'off', dir: 'ltr'}),
	]})});
}
