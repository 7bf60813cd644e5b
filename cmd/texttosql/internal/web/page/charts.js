// ---- Charts.

const compact = new Intl.NumberFormat(undefined, {notation: 'compact', maximumFractionDigits: 2});
const short = (text, n) => [...text].length > n ? [...text].slice(0, n - 1).join('') + '…' : text;

// ticks returns about n round numbers from low to high.
function ticks(low, high, n) {
	const raw = (high - low) / n || 1, power = 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 5, 10].find((m) => m * power >= raw) * power;
	const all = [];
	for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) all.push(k * step);
	return all;
}

// kindsOf are the forms in which a chart can be drawn, the best first.
function kindsOf(c) {
	if (c.kind === 'scatter') return {scatter: 'Points', none: 'No chart'};
	const many = c.lines.length > 1, n = c.labels.length, columns = n * c.lines.length > 120 && many ? {} : {columns: 'Columns'};
	const parts = !c.parts ? {} : many ? {stacked: 'Stacked', share: 'Shares'} : c.kind === 'bars' ? {share: 'Shares'} : {};
	if (c.kind !== 'line') return {...many ? {} : {bars: 'Bars'}, ...columns, ...parts, none: 'No chart'};
	const lines = broken(c) ? {line: 'Line', zero: 'Line from zero'} : {line: 'Line'};
	return {...alike(c) ? {zero: lines.zero, line: lines.line} : lines, ...columns, ...parts, none: 'No chart'};
}

function figure(c) {
	const all = c.lines.flatMap((l) => l.values.map((v, i) => ({v, text: l.texts[i], at: c.labels[i] + (l.name ? ', ' + l.name : '')}))).filter((p) => p.v !== null);
	const low = all.reduce((a, b) => b.v < a.v ? b : a), high = all.reduce((a, b) => b.v > a.v ? b : a), n = c.labels.length, many = c.lines.length > 1;
	const id = newID('chart'), picture = draw('svg', {role: 'img', 'aria-labelledby': id, 'aria-describedby': id + '-more'});
	const described = (c.kind === 'line' ? n + ' points from ' + c.labels[0] + ' to ' + c.labels[n - 1] : n + (c.kind === 'scatter' ? ' points' : ' values')) + (many ? ' for each of ' + c.lines.map((l) => l.name).join(', ') : '')
		+ '. Lowest: ' + low.text + ' (' + low.at + '). Highest: ' + high.text + ' (' + high.at + '). The table has all values.';
	const pick = el('select', {id: id + '-kind', class: 'small'}, Object.entries(kindsOf(c)).map(([k, text]) => el('option', {value: k}, text)));
	const note = el('p', {class: 'note', dir: 'auto'}), save = button('PNG', () => photograph(f, picture, c), {class: 'small', 'aria-label': 'Save the chart as PNG: ' + c.title});
	const legend = many ? el('ul', {class: 'legend'}, c.lines.map((l, i) => el('li', {dir: 'auto'}, draw('svg', {viewBox: '0 0 24 10', 'aria-hidden': 'true'}, draw('path', {class: 'curve c' + i, d: 'M0 5H24'})), l.name || '(empty)'))) : null;
	const f = el('figure', {class: 'chart'}, el('div', {class: 'head'}, el('figcaption', {id, dir: 'auto'}, c.title),
		el('div', {class: 'row'}, el('label', {for: pick.id, class: 'unseen'}, 'Kind of chart'), pick, save)), legend, picture, note, el('p', {class: 'unseen', id: id + '-more'}, described));
	let width = 0;
	const paint = () => {
		for (const e of [picture, save, legend]) if (e) e.toggleAttribute('hidden', pick.value === 'none');
		const cut = pick.value === 'line' && broken(c);
		note.textContent = [c.note, cut ? 'The axis is broken: it does not begin at zero.' : '', pick.value === 'share' ? 'Shares of what is shown.' : ''].filter(Boolean).join(' ');
		note.hidden = !note.textContent;
		if (pick.value === 'none') return;
		const now = pick.value === 'share' ? shares(c) : c;
		tips(picture, now, drawnAs(pick.value, picture, now, width, cut), width);
	};
	pick.addEventListener('change', paint);
	new ResizeObserver(() => requestAnimationFrame(() => { // drawing changes the height
		const now = Math.floor(f.clientWidth);
		if (now > 0 && now !== width) { width = now; paint(); }
	})).observe(f);
	return f;
}

// drawnAs draws a chart in one of its kinds and returns its points.
function drawnAs(kind, picture, c, width, cut) {
	if (kind === 'scatter') return scatter(picture, c, width);
	if (kind === 'bars' || kind === 'share' && c.lines.length === 1) return bars(picture, c, width);
	return plot(picture, c, width, kind === 'zero' ? 'line' : kind, cut);
}

// shares is a chart in percent: of all its values, or of those at each label where there are several lines.
function shares(c) {
	const whole = c.labels.map((_, i) => c.lines.reduce((sum, l) => sum + (l.values[i] ?? 0), 0)), all = whole.reduce((a, b) => a + b, 0);
	const of = (v, i) => v === null ? null : 100 * v / ((c.lines.length > 1 ? whole[i] : all) || 1);
	const text = (x) => new Intl.NumberFormat(undefined, {maximumFractionDigits: 1}).format(x) + ' %';
	return {...c, lines: c.lines.map((l) => ({...l, values: l.values.map(of), texts: l.texts.map((t, i) => l.values[i] === null ? t : text(of(l.values[i], i)) + ' (' + t + ')')}))};
}

// range is the lowest and the highest value of a chart.
function range(c) {
	const all = c.lines.flatMap((l) => l.values).filter((v) => v !== null);
	return [Math.min(...all), Math.max(...all)];
}

// broken says that from zero on a line would show nothing of how its values differ.
function broken(c) {
	const [low, high] = range(c);
	return low > 0 && high - low < .3 * high && high > low;
}

// alike says that the values differ by less than a fifth of the highest, which a broken axis would blow up.
function alike(c) {
	const [low, high] = range(c);
	return broken(c) && high - low < .2 * high;
}

// photograph saves a chart as it is drawn, with its title and its legend, as a picture of twice its size.
async function photograph(f, picture, c) {
	const [, , width, height] = picture.getAttribute('viewBox').split(' ').map(Number), copy = picture.cloneNode(true), of = getComputedStyle(f);
	const took = (from, to) => { // an image has no style of the page
		const style = getComputedStyle(from);
		for (const name of ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'font-size', 'font-family', 'text-anchor']) to.setAttribute(name, style.getPropertyValue(name));
		[...from.children].forEach((child, i) => took(child, to.children[i]));
	};
	took(picture, copy);
	for (const tip of copy.querySelectorAll('.tip, .tip-text')) tip.remove();
	const names = f.querySelectorAll('.legend li'), top = 34 + 20 * names.length, text = (x, y, size, words) => draw('text', {x, y, 'font-size': size, 'font-family': of.fontFamily, fill: of.color}, words);
	const whole = draw('svg', {xmlns: 'http://www.w3.org/2000/svg', viewBox: '-12 0 ' + (width + 24) + ' ' + (height + top + 12), width: 2 * (width + 24), height: 2 * (height + top + 12)},
		draw('rect', {x: -12, width: '100%', height: '100%', fill: getComputedStyle(document.body).backgroundColor}), text(0, 22, 15, c.title),
		[...names].flatMap((li, i) => [draw('rect', {x: 0, y: 38 + 20 * i, width: 12, height: 12, fill: getComputedStyle(li.querySelector('path')).stroke}), text(20, 49 + 20 * i, 13, li.textContent)]), draw('g', {transform: 'translate(0 ' + top + ')'}, ...copy.childNodes));
	const url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(whole)], {type: 'image/svg+xml'})), image = new Image(), sheet = el('canvas', {width: 2 * (width + 24), height: 2 * (height + top + 12)});
	try {
		image.src = url;
		await image.decode();
		sheet.getContext('2d').drawImage(image, 0, 0);
		const blob = await new Promise((done) => sheet.toBlob(done, 'image/png')), to = URL.createObjectURL(blob);
		el('a', {href: to, download: c.title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60) + '.png'}).click();
		setTimeout(() => URL.revokeObjectURL(to), 60000);
		say('Saved');
	} catch {
		say('The browser cannot make a picture of it');
	}
	URL.revokeObjectURL(url);
}

// plot draws lines or columns, beside each other or stacked, and returns the highest middle at each label.
function plot(picture, c, width, kind, cut) {
	const height = 240, left = 58, right = 14, top = 10, bottom = 28, n = c.labels.length, piled = kind === 'stacked' || kind === 'share', wide = piled ? 1 : c.lines.length;
	const sums = c.labels.map((_, i) => c.lines.reduce((sum, l) => sum + (l.values[i] ?? 0), 0));
	let [low, high] = piled ? [0, Math.max(...sums)] : range(c);
	if (cut) low -= .15 * (high - low);
	else { low = Math.min(0, low); high = Math.max(0, high); }
	if (low === high) high = low + 1;
	const marks = ticks(low, high, 4), room = width - left - right, thick = Math.max(1, Math.min(48, .7 * room / n / wide));
	high = Math.max(high, marks[marks.length - 1]);
	const x = (i) => kind !== 'line' ? left + room * (i + .5) / n : c.at ? left + room * (c.at[i] - c.at[0]) / ((c.at[n - 1] - c.at[0]) || 1) : left + room * i / Math.max(1, n - 1);
	const y = (v) => top + (height - top - bottom - (cut ? 14 : 0)) * (high - v) / (high - low);
	const parts = marks.flatMap((v) => [
		draw('line', {class: v === 0 ? 'grid zero' : 'grid', x1: left, x2: width - right, y1: y(v), y2: y(v)}),
		draw('text', {x: left - 8, y: y(v) + 4, 'text-anchor': 'end'}, compact.format(v)),
	]);
	if (cut) { // the sign of a broken axis
		const b = height - bottom;
		parts.push(draw('polyline', {class: 'break', points: [[0, 2], [0, -4], [-5, -7], [5, -11], [0, -14], [0, -20]].map(([dx, dy]) => (left + dx) + ',' + (b + dy)).join(' ')}));
		parts.push(draw('text', {x: left - 8, y: b + 2, 'text-anchor': 'end'}, '0'));
	}
	const under = c.labels.map(() => 0);
	c.lines.forEach(({values}, k) => {
		if (kind !== 'line') values.forEach((v, i) => {
			if (v === null) return;
			const from = piled ? under[i] : 0, to = from + v;
			if (piled) under[i] = to;
			parts.push(draw('rect', {class: 'block c' + k, x: x(i) + thick * ((piled ? 0 : k) - wide / 2), y: Math.min(y(from), y(to)), width: Math.max(1, thick - (wide > 1)), height: Math.max(piled ? 0 : 1, Math.abs(y(from) - y(to)))}));
		});
		else {
			parts.push(draw('path', {class: 'curve c' + k, d: values.map((v, i) => v === null ? '' : (i && values[i - 1] !== null ? 'L' : 'M') + x(i).toFixed(1) + ' ' + y(v).toFixed(1)).join('')}));
			values.forEach((v, i) => v === null || n > 60 && (values[i - 1] ?? values[i + 1] ?? null) !== null || parts.push(draw('circle', {class: 'dot c' + k, cx: x(i), cy: y(v), r: 3})));
		}
	});
	const letters = kind !== 'line' && !c.at ? 10 : 12, space = 7 * Math.max(...c.labels.map((l) => [...short(l, letters)].length)) + 14;
	const each = Math.max(1, Math.ceil(n * space / room)); // every label, every second, every third …
	for (let i = 0, free = -Infinity; i < n; i += each) {
		const own = short(c.labels[i], letters), half = 3.5 * [...own].length, at = Math.min(width - half, Math.max(half, x(i)));
		if (at - half < free) continue; // points of time are not evenly apart
		free = at + half + 8;
		parts.push(draw('text', {x: at, y: height - 8, 'text-anchor': 'middle'}, own));
	}
	picture.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
	picture.setAttribute('height', height);
	picture.replaceChildren(...parts);
	return c.labels.map((_, i) => [x(i), piled ? y(sums[i]) : Math.min(...c.lines.map((l) => l.values[i] === null ? height : y(l.values[i])))]);
}

function bars(picture, c, width) {
	const {values, texts} = c.lines[0], row = 26, n = values.length, letters = Math.max(6, Math.min(28, Math.floor(width * .35 / 7)));
	const left = 7 * Math.min(letters, Math.max(...c.labels.map((l) => [...l].length))) + 12, right = 8 * Math.max(...texts.map((t) => [...t].length)) + 12;
	const [least, most] = range(c), low = Math.min(0, least), high = Math.max(0, most), span = high - low || 1;
	const x = (v) => left + (width - left - right) * (v - low) / span;
	picture.setAttribute('viewBox', '0 0 ' + width + ' ' + row * n);
	picture.setAttribute('height', row * n);
	picture.replaceChildren(...values.flatMap((v, i) => [
		draw('text', {x: left - 8, y: row * i + 17, 'text-anchor': 'end'}, short(c.labels[i], letters)),
		...v === null ? [] : [draw('rect', {class: 'block', x: Math.min(x(0), x(v)), y: row * i + 4, width: Math.max(1, Math.abs(x(v) - x(0))), height: row - 8, rx: 2})],
		draw('text', {class: 'value', x: Math.max(x(0), x(v ?? 0)) + 6, y: row * i + 17}, texts[i]),
	]));
	return values.map((v, i) => [null, row * i + 13]);
}

// scatter draws pairs of numbers.
function scatter(picture, c, width) {
	const height = 280, left = 58, right = 14, top = 10, bottom = 44, values = c.lines[0].values;
	const axis = (all, from, to, n) => {
		const marks = ticks(Math.min(...all), Math.max(...all), n), low = Math.min(...all, ...marks), high = Math.max(...all, ...marks);
		return {marks, at: (v) => from + (to - from) * (v - low) / ((high - low) || 1)};
	};
	const x = axis(c.at, left, width - right, Math.max(2, Math.floor(width / 110))), y = axis(values, height - bottom, top, 4);
	picture.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
	picture.setAttribute('height', height);
	picture.replaceChildren(
		...y.marks.flatMap((v) => [draw('line', {class: 'grid', x1: left, x2: width - right, y1: y.at(v), y2: y.at(v)}), draw('text', {x: left - 8, y: y.at(v) + 4, 'text-anchor': 'end'}, compact.format(v))]),
		...x.marks.map((v) => draw('text', {x: x.at(v), y: height - bottom + 18, 'text-anchor': 'middle'}, compact.format(v))),
		draw('text', {x: width - right, y: height - 6, 'text-anchor': 'end'}, short(c.across, 40)),
		...values.map((v, i) => draw('circle', {class: 'dot c0', cx: x.at(c.at[i]), cy: y.at(v), r: 3})));
	return values.map((v, i) => [x.at(c.at[i]), y.at(v)]);
}

// tips tell the point under the pointer.
function tips(picture, c, points, width) {
	const back = draw('rect', {class: 'tip', height: 24, rx: 4}), text = draw('text', {class: 'tip-text', 'text-anchor': 'middle'}), tip = draw('g', {}, back, text);
	picture.onpointermove = (e) => {
		const r = picture.getBoundingClientRect(), px = (e.clientX - r.left) * width / r.width, py = (e.clientY - r.top) * width / r.width;
		const away = ([x, y]) => x === null ? Math.abs(y - py) : c.kind === 'scatter' ? Math.hypot(x - px, y - py) : Math.abs(x - px);
		const i = points.reduce((best, p, i) => away(p) < away(points[best]) ? i : best, 0);
		text.textContent = short(c.labels[i], 40) + ': ' + c.lines.filter((l) => l.texts[i]).map((l) => (l.name ? short(l.name, 20) + ' ' : '') + l.texts[i]).join(', ');
		const wide = Math.min(width, 7.2 * [...text.textContent].length + 16), x = Math.min(width - wide / 2, Math.max(wide / 2, points[i][0] === null ? px : points[i][0]));
		const y = points[i][1] < 34 ? points[i][1] + 12 : points[i][1] - 34;
		back.setAttribute('x', x - wide / 2);
		back.setAttribute('width', wide);
		back.setAttribute('y', y);
		text.setAttribute('x', x);
		text.setAttribute('y', y + 16);
		if (!tip.isConnected) picture.append(tip);
	};
	picture.onpointerleave = () => tip.remove();
}
