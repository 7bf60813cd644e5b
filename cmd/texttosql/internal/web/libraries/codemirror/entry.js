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

// The colours are those of the page, whose properties are inherited.
const theme = EditorView.theme({
	'&': {maxHeight: '24rem', border: '1px solid var(--edge)', borderRadius: '6px', background: 'var(--back)', color: 'var(--text)'},
	'&.cm-focused': {outline: '3px solid var(--accent)', outlineOffset: '2px'},
	'.cm-scroller': {fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace', fontSize: '.875rem', overflow: 'auto'},
	'.cm-content': {minHeight: '8rem', caretColor: 'var(--text)'},
	'.cm-cursor': {borderLeftColor: 'var(--text)'},
	'.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {background: 'var(--soft)'},
	'&.cm-focused .cm-matchingBracket': {background: 'var(--soft)'},
	'.cm-tooltip': {background: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--edge)', borderRadius: '6px'},
	'.cm-tooltip.cm-tooltip-autocomplete ul li[aria-selected]': {background: 'var(--accent)', color: 'var(--on-accent)'},
	'.cm-completionDetail': {color: 'inherit'},
	'.tok-keyword, .tok-bool': {color: 'var(--word)', fontWeight: '600'},
	'.tok-string': {color: 'var(--string)'}, '.tok-number': {color: 'var(--number)'},
	'.tok-comment': {color: 'var(--muted)'}, '.tok-typeName': {color: 'var(--accent)'},
});

// A browser that replaces coloured text keeps its look by a style of its own, which the content policy refuses: the editor replaces it.
const replacing = EditorView.domEventHandlers({beforeinput: (e, view) => {
	if (e.inputType !== 'insertText' || e.data === null || e.isComposing || view.state.selection.main.empty) return false;
	view.dispatch(view.state.replaceSelection(e.data), {userEvent: 'input.type', scrollIntoView: true});
	e.preventDefault();
	return true;
}});

// editor makes an editor in parent, in a shadow tree: there its style needs no leave of the content policy. schema has the columns of each table. run is called by Control and Enter, close by Escape.
export function editor({parent, doc, engine, schema, label, run, close}) {
	const key = (name, f) => keymap.of([{key: name, preventDefault: true, stopPropagation: true, run: () => { f(); return true; }}]);
	const root = parent.attachShadow({mode: 'open', delegatesFocus: true});
	return new EditorView({parent: root, root, state: EditorState.create({doc, extensions: [
		key('Mod-Enter', run), history(), drawSelection(), bracketMatching(), closeBrackets(), autocompletion({icons: false}),
		sql({dialect: dialect(engine), schema, upperCaseKeywords: true}), syntaxHighlighting(classHighlighter), EditorView.lineWrapping, theme, replacing,
		keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap.filter((k) => k.key !== 'Escape')]), key('Escape', close),
		EditorView.contentAttributes.of({'aria-label': label, spellcheck: 'false', autocapitalize: 'off', dir: 'ltr'}),
	]})});
}
