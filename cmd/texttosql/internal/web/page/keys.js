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
for (const [id, f] of [['find', list], ['find-table', search]]) {
	let wait = 0;
	$(id).addEventListener('input', () => { clearTimeout(wait); wait = setTimeout(f, 150); });
}
// A heading that gets the focus after a click is not framed as if it were a field.
addEventListener('pointerdown', () => { document.documentElement.dataset.by = 'pointer'; }, true);
addEventListener('keydown', () => { document.documentElement.dataset.by = 'keys'; }, true);
addEventListener('hashchange', route);
if (matchMedia('(max-width: 52rem)').matches) $('past').open = false;
route();
