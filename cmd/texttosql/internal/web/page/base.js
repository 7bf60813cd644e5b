// Texts of models, databases and persons become text nodes and attributes that hold text. Nothing is parsed as markup;
// the content policy refuses it (trusted types).

const $ = (id) => document.getElementById(id);

function made(e, props, children) {
	for (const [name, value] of Object.entries(props)) {
		if (value === undefined || value === null || value === false) continue;
		if (typeof value === 'function') e.addEventListener(name, value);
		else e.setAttribute(name, value === true ? '' : value);
	}
	e.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
	return e;
}
const el = (tag, props = {}, ...children) => made(document.createElement(tag), props, children);
const draw = (tag, props = {}, ...children) => made(document.createElementNS('http://www.w3.org/2000/svg', tag), props, children);
const button = (text, click, props = {}) => el('button', {type: 'button', click, ...props}, text);
const more = (title, ...children) => el('details', {class: 'more'}, el('summary', {}, title), ...children);
let ids = 0;
const newID = (stem) => stem + '-' + ++ids;

// ---- What is shown.

let page = {kind: '', id: ''}; // 'new', 'talk', 'saved' or 'schema'
let talk = null; // the conversation of the page
let stream = null; // its events
let told = null; // the last news of the stream
let mine = ''; // the conversation in which this tab did something: the answer to it gets the focus
let since = -1; // its revision then: an earlier answer that is drawn again is not the answer to it
let read = 0; // counts the reads of the conversation, of which the last counts
let asks = true; // there is a model to ask
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
	if (name !== 'cancel') [mine, since] = [id, talk.revision];
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
