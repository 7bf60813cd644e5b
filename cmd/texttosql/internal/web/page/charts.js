// ---- Charts.

const compact = new Intl.NumberFormat(undefined, {notation: 'compact', maximumFractionDigits: 2});
const short = (text, n) => [...text].length > n ? [...text].slice(0, n - 1).join('') + '…' : text;

// ticks returns about n round numbers, the first at or below low and the last at or above high; of whole numbers, whole ones.
function ticks(low, high, n, whole) {
	const raw = (high - low) / n || 1, power = 10 ** Math.floor(Math.log10(raw));
	const round = [1, 2, 2.5, 5, 10].find((m) => m * power >= raw * .999) * power, step = whole ? Math.max(1, Math.ceil(round)) : round;
	const all = [];
	for (let k = Math.floor(low / step + 1e-9); ; k++) {
		all.push(k * step);
		if (k * step >= high - step * 1e-9) return all;
	}
}

// ---- Time. A place on the axis is a number of seconds, read as UTC; moments are moved to the reader's clock before.

const monthsOf = {year: 12, quarter: 3, month: 1}, secondsOf = {week: 604800, day: 86400, hour: 3600};

// periodAt is the number of the period of a grain that a place is in.
function periodAt(grain, at) {
	const d = new Date(at * 1000), size = monthsOf[grain];
	return size ? Math.floor((12 * d.getUTCFullYear() + d.getUTCMonth()) / size) : Math.floor(at / secondsOf[grain]);
}

// periodStart is the place where a period begins; a week begins on the day of the first one.
function periodStart(grain, n, first) {
	const m = n * monthsOf[grain];
	return monthsOf[grain] ? Date.UTC(Math.floor(m / 12), m % 12) / 1000 : n * secondsOf[grain] + (grain === 'week' ? first % secondsOf.week : 0);
}

// periodNames are the short name of a period and what stands below the first of them: "Jan" and "2024".
function periodNames(grain, at) {
	const say = (o) => new Intl.DateTimeFormat(undefined, {timeZone: 'UTC', ...o}).format(at * 1000), year = say({year: 'numeric'});
	if (grain === 'year') return [year, ''];
	if (grain === 'quarter') return ['Q' + (1 + Math.floor(new Date(at * 1000).getUTCMonth() / 3)), year];
	if (grain === 'month') return [say({month: 'short'}), year];
	const day = say({day: 'numeric', month: 'short'});
	return grain === 'hour' ? [say({hour: '2-digit', minute: '2-digit', hourCycle: 'h23'}), day] : [day, year];
}

// timeline is the axis of a chart over time: of periods, which are evenly apart, or of days and moments. It has the places of the labels
// between 0 and 1 and the names to write; null where labels are no times.
function timeline(c) {
	if (!c.time || !c.at) return null;
	const first = c.at[0], last = c.at[c.at.length - 1], days = (last - first) / 86400, even = c.time in monthsOf || c.time in secondsOf;
	const grain = even ? c.time : days <= 2 ? 'hour' : days <= 92 ? 'day' : days <= 1500 ? 'month' : 'year', from = periodAt(grain, first), slots = periodAt(grain, last) - from + 1;
	const place = even ? (at) => (periodAt(grain, at) - from) / Math.max(1, slots - 1) : (at) => (at - first) / ((last - first) || 1);
	const names = (most) => { // at most so many
		const step = [1, 2, 3, 4, 6, 12, 24, 48, 120, 240, 600].find((k) => slots / k <= most) || Math.ceil(slots / most), all = [];
		let under = '';
		for (let n = even ? from : Math.ceil(from / step) * step; n < from + slots; n += step) {
			const at = periodStart(grain, n, first), x = place(at), [text, below] = periodNames(grain, at);
			if (x < 0) continue;
			all.push({x, text, under: below === under ? '' : below});
			under = below;
		}
		return all;
	};
	return {slots, even, place, names, gap: (i) => even && i > 0 && periodAt(grain, c.at[i]) - periodAt(grain, c.at[i - 1]) > 1};
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

const chosen = new Map(); // the kinds of charts that the reader took, by place

// roomFor is the height of a chart: that of the rows beside it.
function roomFor(f) {
	const rows = f.closest('.shown')?.querySelector('.scroll');
	if (rows && f.parentElement.children.length === 1 && rows.getBoundingClientRect().left >= f.getBoundingClientRect().right) return Math.min(476, Math.max(320, rows.offsetHeight));
	return innerWidth < 832 ? 260 : 320;
}

function figure(c, place) {
	if (c.moments) {
		const clock = (at) => at - 60 * new Date(at * 1000).getTimezoneOffset();
		c = {...c, at: c.at.map(clock), labels: c.labels.map((l) => local(l, true)), note: [c.note, 'Times in ' + zone() + '.'].filter(Boolean).join(' ')};
	}
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
	if (chosen.get(place) in kindsOf(c)) pick.value = chosen.get(place);
	let width = 0;
	const paint = () => {
		for (const e of [picture, save, legend]) if (e) e.toggleAttribute('hidden', pick.value === 'none');
		const cut = pick.value === 'line' && broken(c);
		note.textContent = [c.note, cut ? 'The axis is broken: it does not begin at zero.' : '', pick.value === 'share' ? 'Shares of what is shown.' : ''].filter(Boolean).join(' ');
		note.hidden = !note.textContent;
		if (pick.value === 'none') return;
		const now = pick.value === 'share' ? shares(c) : c;
		tips(picture, now, drawnAs(pick.value, picture, now, width, cut, roomFor(f)), width);
	};
	pick.addEventListener('change', () => { paint(); chosen.set(place, pick.value); });
	new ResizeObserver(() => requestAnimationFrame(() => { // drawing changes the height
		const now = Math.floor(f.clientWidth);
		if (now > 0 && now !== width) { width = now; paint(); }
	})).observe(f);
	return f;
}

// drawnAs draws a chart in one of its kinds and returns its points.
function drawnAs(kind, picture, c, width, cut, height) {
	const points = kind === 'scatter' ? scatter(picture, c, width, height)
		: kind === 'bars' || kind === 'share' && c.lines.length === 1 ? bars(picture, c, width, height) : plot(picture, c, width, kind === 'zero' ? 'line' : kind, cut, height);
	const [, , , tall] = picture.getAttribute('viewBox').split(' ');
	picture.setAttribute('height', tall);
	return points;
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

// scaleOf is an axis of numbers between two places: its round numbers and where a value stands.
function scaleOf(marks, low, high, from, to) {
	return {marks, at: (v) => from + (to - from) * (v - low) / ((high - low) || 1)};
}

// upright draws the lines of an axis of numbers, with its name above.
const upright = (y, left, right, name) => [...y.marks.flatMap((v) => [
	draw('line', {class: v === 0 ? 'grid zero' : 'grid', x1: left, x2: right, y1: y.at(v), y2: y.at(v)}),
	draw('text', {x: left - 8, y: y.at(v) + 4, 'text-anchor': 'end'}, compact.format(v)),
]), name ? draw('text', {x: 0, y: 12}, short(name, 60)) : null].filter(Boolean);

// broadest is the room that the numbers of an axis need.
const broadest = (marks) => 7 * Math.max(...marks.map((v) => compact.format(v).length)) + 14;

// plot draws lines or columns, beside each other or stacked, and returns the highest middle at each label.
function plot(picture, c, width, kind, cut, height) {
	const n = c.labels.length, piled = kind === 'stacked' || kind === 'share', wide = piled ? 1 : c.lines.length, time = timeline(c);
	const sums = c.labels.map((_, i) => c.lines.reduce((sum, l) => sum + (l.values[i] ?? 0), 0));
	let [low, high] = piled ? [0, Math.max(...sums)] : range(c);
	if (!cut) { low = Math.min(0, low); high = Math.max(0, high); }
	if (low === high) high = low + 1;
	let marks = ticks(low, high, 5, c.lines.every((l) => l.values.every(Number.isInteger)));
	high = marks[marks.length - 1];
	low = cut ? low - .15 * (high - low) : marks[0];
	marks = marks.filter((v) => v >= low);
	const left = broadest(marks), right = 14, top = 26, bottom = time ? 44 : 28, room = width - left - right, floor = height - bottom - (cut ? 14 : 0);
	const slots = time && time.even && time.slots <= 400 ? time.slots : n, slot = (i) => time && time.even && time.slots <= 400 ? time.place(c.at[i]) * (slots - 1) : i;
	const thick = Math.max(1, Math.min(48, .7 * room / slots / wide)), inset = kind === 'line' ? Math.min(12, room / 20) : 0;
	const across = (share) => kind === 'line' ? left + inset + (room - 2 * inset) * share : left + room * (share * (slots - 1) + .5) / slots;
	const x = (i) => kind === 'line' && time ? across(time.place(c.at[i])) : kind === 'line' && c.at ? across((c.at[i] - c.at[0]) / ((c.at[n - 1] - c.at[0]) || 1)) : across(slot(i) / Math.max(1, slots - 1));
	const scale = scaleOf(marks, low, high, floor, top), y = scale.at, parts = upright(scale, left, width - right, piled && kind === 'share' ? '%' : c.measure);
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
		else parts.push(...curve(values, k, x, y, (i) => i === 0 || values[i - 1] === null || time && time.gap(i)));
	});
	parts.push(...time && (kind === 'line' || time.even && slots === time.slots) ? time.names(Math.max(2, Math.floor(room / 52))).flatMap(({x, text, under}) => [
		draw('text', {x: Math.max(14, across(x)), y: height - 26, 'text-anchor': 'middle'}, text), draw('text', {x: Math.max(16, across(x)), y: height - 8, 'text-anchor': 'middle'}, under)])
		: labelsOf(c, x, width, room, height, kind));
	picture.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
	picture.replaceChildren(...parts);
	return c.labels.map((_, i) => [x(i), piled ? y(sums[i]) : Math.min(...c.lines.map((l) => l.values[i] === null ? height : y(l.values[i])))]);
}

// curve is a line with its gaps. A point that stands alone, and the highest of all, are marked.
function curve(values, k, x, y, begins) {
	const top = values.reduce((best, v, i) => v !== null && (best < 0 || v > values[best]) ? i : best, -1), parts = [];
	parts.push(draw('path', {class: 'curve c' + k, d: values.map((v, i) => v === null ? '' : (begins(i) ? 'M' : 'L') + x(i).toFixed(1) + ' ' + y(v).toFixed(1)).join('')}));
	values.forEach((v, i) => {
		const alone = v !== null && begins(i) && (i + 1 === values.length || values[i + 1] === null || begins(i + 1));
		if (alone || i === top) parts.push(draw('circle', {class: 'dot c' + k, cx: x(i), cy: y(v), r: i === top ? 4.5 : 3}));
	});
	return parts;
}

// labelsOf are the names below columns: every one, every second, every third …
function labelsOf(c, x, width, room, height, kind) {
	const n = c.labels.length, letters = kind !== 'line' && !c.at ? 14 : 12, space = 7 * Math.max(...c.labels.map((l) => [...short(l, letters)].length)) + 14;
	const each = Math.max(1, Math.ceil(n * space / room)), parts = [];
	for (let i = 0, free = -Infinity; i < n; i += each) {
		const own = short(c.labels[i], letters), half = 3.5 * [...own].length, at = Math.min(width - half, Math.max(half, x(i)));
		if (at - half < free) continue; // points of time are not evenly apart
		free = at + half + 8;
		parts.push(draw('text', {x: at, y: height - 8, 'text-anchor': 'middle'}, own));
	}
	return parts;
}

function bars(picture, c, width, height) {
	const {values, texts} = c.lines[0], n = values.length, row = Math.min(40, Math.max(28, Math.floor(height / n))), letters = Math.max(6, Math.min(28, Math.floor(width * .35 / 7)));
	const left = 7 * Math.min(letters, Math.max(...c.labels.map((l) => [...l].length))) + 12, right = 8 * Math.max(...texts.map((t) => [...t].length)) + 12;
	const [least, most] = range(c), low = Math.min(0, least), high = Math.max(0, most), span = high - low || 1;
	const x = (v) => left + (width - left - right) * (v - low) / span;
	picture.setAttribute('viewBox', '0 0 ' + width + ' ' + row * n);
	picture.replaceChildren(...values.flatMap((v, i) => [
		draw('text', {x: left - 8, y: row * i + row / 2 + 4, 'text-anchor': 'end'}, short(c.labels[i], letters)),
		...v === null ? [] : [draw('rect', {class: 'block', x: Math.min(x(0), x(v)), y: row * i + 5, width: Math.max(1, Math.abs(x(v) - x(0))), height: row - 10, rx: 2})],
		draw('text', {class: 'value', x: Math.max(x(0), x(v ?? 0)) + 6, y: row * i + row / 2 + 4}, texts[i]),
	]));
	return values.map((v, i) => [null, row * i + row / 2]);
}

// scatter draws pairs of numbers, with round numbers and a name at both axes.
function scatter(picture, c, width, height) {
	const right = 14, top = 26, bottom = 44, values = c.lines[0].values;
	const axis = (all, n, from, to) => {
		const marks = ticks(Math.min(...all), Math.max(...all), n);
		return scaleOf(marks, marks[0], marks[marks.length - 1], from, to);
	};
	const y = axis(values, 4, height - bottom, top), left = broadest(y.marks), x = axis(c.at, Math.max(2, Math.floor(width / 110)), left, width - right);
	picture.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
	picture.replaceChildren(...upright(y, left, width - right, c.measure),
		...x.marks.flatMap((v) => [draw('line', {class: 'grid', x1: x.at(v), x2: x.at(v), y1: height - bottom, y2: height - bottom + 5}), draw('text', {x: x.at(v), y: height - bottom + 18, 'text-anchor': 'middle'}, compact.format(v))]),
		draw('text', {x: width - right, y: height - 6, 'text-anchor': 'end'}, short(c.across, 40)),
		...values.map((v, i) => draw('circle', {class: 'dot c0', cx: x.at(c.at[i]), cy: y.at(v), r: 3})));
	return values.map((v, i) => [x.at(c.at[i]), y.at(v)]);
}

// spark is a small chart without words, as a card has it: a line over time or bars.
function spark(s) {
	const all = s.values, low = Math.min(0, ...all), high = Math.max(0, ...all), span = high - low || 1;
	const shape = s.kind === 'line' ? [draw('path', {class: 'curve c0', d: all.map((v, i) => (i ? 'L' : 'M') + (200 * i / Math.max(1, all.length - 1)).toFixed(1) + ' ' + (34 - 32 * (v - low) / span).toFixed(1)).join('')})]
		: all.slice(0, 3).map((v, i) => draw('rect', {class: 'rest', y: 13 * i, width: Math.max(1, 200 * Math.abs(v) / Math.max(high, -low, 1e-300)), height: 8}));
	return draw('svg', {class: 'spark', viewBox: '0 0 200 36', preserveAspectRatio: 'none', 'aria-hidden': 'true'}, ...shape);
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
