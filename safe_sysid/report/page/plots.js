'use strict';
// Line plots with bands as SVG; those over time share one moment, one stretch of time and what is hovered.

const SVG = 'http://www.w3.org/2000/svg', OVER_TIME = 'time [s]';

function element(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(made);
  return made;
}

function html(name, className, text, parent) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined && text !== null) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
}

function figure3(value) {
  if (value === null || value === undefined || !isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2).replace('-', '−').replace('e-', 'e−');
  return String(Number(value.toPrecision(4))).replace('-', '−');
}

function ticks(low, high, count) {
  const rough = (high - low) / count, power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough * (1 - 1e-9));
  const list = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) list.push(Math.abs(v) < 1e-12 * step ? 0 : v);
  return list;
}

function logTicks(low, high) {
  const within = factors => {
    const list = [];
    for (let p = Math.floor(low); p <= Math.ceil(high); p++) factors.forEach(f => { const v = p + Math.log10(f); if (v >= low && v <= high) list.push(v); });
    return list;
  };
  const fitting = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 7]].map(within).find(list => list.length >= 3) || [low, high];
  const every = Math.ceil(fitting.length / 6);
  return fitting.filter((_, i) => i % every === 0);
}

// Smallest and largest of what is drawn between two places of the x axis, with some air.
function extent(plot, first, last) {
  let low = Infinity, high = -Infinity;
  const take = v => { if (v === null || (plot.log && v <= 0)) return; const y = plot.log ? Math.log10(v) : v; low = Math.min(low, y); high = Math.max(high, y); };
  const inside = (x, i) => (x[i] >= first && x[i] <= last) || (i + 1 < x.length && x[i] < first && x[i + 1] > first) || (i > 0 && x[i] > last && x[i - 1] < last);
  plot.series.forEach(s => s.y.forEach((y, i) => { if (inside(s.x, i)) take(y); }));
  plot.bands.forEach(b => b.x.forEach((_, i) => { if (inside(b.x, i)) { take(b.lower[i]); take(b.upper[i]); } }));
  if (!isFinite(low)) { low = 0; high = 1; }
  if (high - low < 1e-12) { const pad = plot.log ? 0.5 : Math.max(Math.abs(high) * 0.1, 1e-6); low -= pad; high += pad; }
  const pad = 0.06 * (high - low);
  return [low - pad, high + pad];
}

function path(points) {
  let text = '', pen = false;
  points.forEach(p => { if (!p) { pen = false; return; } text += (pen ? 'L' : 'M') + p[0].toFixed(1) + ' ' + p[1].toFixed(1); pen = true; });
  return text;
}

function stepped(points) {
  return points.flatMap((p, i) => (i && p && points[i - 1]) ? [[p[0], points[i - 1][1]], p] : [p]);
}

// Value that a curve has at a place: of a step the one before, else of the nearest point.
function valueAt(series, values, x) {
  let i = momentOf(series.x, x).index;
  if (series.style !== 'step' && i + 1 < series.x.length && series.x[i + 1] - x < x - series.x[i]) i++;
  return x < series.x[0] - 1e-9 ? null : values[i];
}

let plotNumber = 0;

// One plot; `clock` tells it the moment, and hears what is hovered, clicked and stretched.
function drawPlot(plot, parent, wide, clock) {
  const W = wide ? 560 : 380, H = wide ? 260 : 220, left = 54, right = 12, top = 22, bottom = 32, name = `plot${++plotNumber}`;
  const box = html('figure', 'card', null, parent), head = html('figcaption', '', plot.title, box);
  const svg = element('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', tabindex: 0, 'aria-label': `${plot.title}: ${plot.y_label} over ${plot.x_label}` }, box);
  const all = plot.series.concat(plot.bands), isTimed = plot.x_label === OVER_TIME;
  const begin = Math.min(...all.map(s => s.x[0])), end = Math.max(...all.map(s => s.x[s.x.length - 1]));
  const g = { first: begin, last: end > begin ? end : begin + 1 };
  const X = x => left + (x - g.first) / (g.last - g.first) * (W - left - right);
  const clip = element('clipPath', { id: name }, svg);
  element('rect', { x: left, y: top - 4, width: W - left - right, height: H - top - bottom + 8 }, clip);
  const back = element('g', {}, svg), curves = element('g', { 'clip-path': `url(#${name})` }, svg);
  const chosen = element('rect', { y: top, height: H - top - bottom, fill: 'var(--accent)', opacity: 0.15, visibility: 'hidden' }, svg);
  const line = more => element('line', { y1: top, y2: H - bottom, stroke: 'var(--ink)', visibility: 'hidden', ...more }, svg);
  const cursor = line({ class: 'cursor', 'stroke-width': 1.2, opacity: 0.55 }), pointed = line({ class: 'pointed', 'stroke-width': 1, opacity: 0.4, 'stroke-dasharray': '3 3' });

  function draw() {
    back.replaceChildren(); curves.replaceChildren();
    const log = plot.log, [low, high] = extent(plot, g.first, g.last);
    const Y = y => H - bottom - ((log ? Math.log10(y) : y) - low) / (high - low) * (H - top - bottom);
    const at = (x, y) => (y === null || (log && y <= 0)) ? null : [X(x), Y(y)];
    (log ? logTicks(low, high) : ticks(low, high, 5)).forEach(t => {
      const value = log ? Math.pow(10, t) : t, y = Y(value);
      element('line', { x1: left, x2: W - right, y1: y, y2: y, stroke: 'var(--grid)' }, back);
      element('text', { x: left - 6, y: y + 3.5, 'text-anchor': 'end' }, back).textContent = figure3(value);
    });
    ticks(g.first, g.last, wide ? 8 : 5).forEach(t => { element('text', { x: X(t), y: H - bottom + 15, 'text-anchor': 'middle' }, back).textContent = figure3(t); });
    element('line', { x1: left, x2: W - right, y1: H - bottom, y2: H - bottom, stroke: 'var(--line)' }, back);
    element('text', { x: 4, y: 12, class: 'unit' }, back).textContent = plot.y_label;
    element('text', { x: W - right, y: H - 3, 'text-anchor': 'end', class: 'unit' }, back).textContent = plot.x_label;
    plot.bands.forEach(b => {
      const upper = b.x.map((x, i) => at(x, b.upper[i])), lower = b.x.map((x, i) => at(x, b.lower[i]));
      let run = [];
      const close = () => { if (run.length > 1) element('path', { d: path(run.map(i => upper[i]).concat(run.slice().reverse().map(i => lower[i]))) + 'Z', fill: `var(--c${b.color})`, opacity: 0.16 }, curves); run = []; };
      b.x.forEach((_, i) => { if (upper[i] && lower[i]) run.push(i); else close(); });
      close();
      [upper, lower].forEach(edge => element('path', { d: path(edge), fill: 'none', stroke: `var(--c${b.color})`, 'stroke-width': 1, opacity: 0.55 }, curves));
    });
    plot.series.forEach(s => {
      const points = s.x.map((x, i) => at(x, s.y[i]));
      if (s.style === 'points') { points.forEach(p => { if (p) element('circle', { cx: p[0], cy: p[1], r: 3, fill: `var(--c${s.color})` }, curves); }); return; }
      const dashes = { limit: '5 4', truth: '1.5 3' }[s.style] || 'none';
      element('path', { d: path(s.style === 'step' ? stepped(points) : points), fill: 'none', stroke: `var(--c${s.color})`, 'stroke-width': s.style === 'limit' ? 1 : 1.7, 'stroke-dasharray': dashes, 'stroke-linejoin': 'round' }, curves);
    });
  }
  draw();

  const legend = html('div', 'legend', null, box);
  if (all.length > 1 || plot.bands.length) all.filter((s, i) => all.findIndex(o => o.name === s.name) === i).forEach(s => {
    const entry = html('span', '', null, legend), mark = html('i', s.lower ? 'band' : s.style, null, entry);
    mark.style.color = `var(--c${s.color})`; entry.append(s.name);
  });
  downloads(head, plot, svg);
  const tip = html('div', 'tip', null, box);

  const put = (mark, time, visible) => {
    mark.setAttribute('visibility', visible && time >= g.first - 1e-9 && time <= g.last + 1e-9 ? 'visible' : 'hidden');
    mark.setAttribute('x1', X(time)); mark.setAttribute('x2', X(time));
  };
  function tell(x, clientX, clientY) {
    tip.replaceChildren();
    html('div', '', `${figure3(x)} ${plot.x_label.replace(/^.*\[|\]$/g, '')}`, tip);
    plot.series.filter((s, i) => s.style !== 'limit' || plot.series.findIndex(o => o.name === s.name) === i).forEach(s => html('div', '', `${s.name}: ${figure3(valueAt(s, s.y, x))}`, tip));
    plot.bands.forEach(b => html('div', '', `${b.name}: ${figure3(valueAt(b, b.lower, x))} to ${figure3(valueAt(b, b.upper, x))}`, tip));
    tip.style.display = 'block';
    const bounds = box.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(clientX - bounds.left + 14, box.clientWidth - tip.offsetWidth - 6))}px`;
    tip.style.top = `${clientY - bounds.top + 14}px`;
  }
  const placeOf = event => {
    const bounds = svg.getBoundingClientRect();
    return g.first + ((event.clientX - bounds.left) / bounds.width * W - left) / (W - left - right) * (g.last - g.first);
  };
  const inside = x => x >= g.first && x <= g.last;
  let from = null;
  const leave = () => { tip.style.display = 'none'; if (isTimed) clock.hover(null); };
  svg.addEventListener('pointerleave', leave);
  svg.addEventListener('pointercancel', () => { from = null; leave(); });
  svg.addEventListener('pointerdown', event => { if (isTimed && inside(placeOf(event)) && event.button === 0) { from = event.clientX; svg.setPointerCapture(event.pointerId); } });
  svg.addEventListener('pointermove', event => {
    const x = placeOf(event);
    if (from !== null && event.pointerType === 'mouse' && Math.abs(event.clientX - from) > 5) {
      const a = Math.max(g.first, Math.min(x, placeOf({ clientX: from }))), b = Math.min(g.last, Math.max(x, placeOf({ clientX: from })));
      chosen.setAttribute('x', X(a)); chosen.setAttribute('width', Math.max(0, X(b) - X(a))); chosen.setAttribute('visibility', 'visible');
      return;
    }
    if (!inside(x)) { leave(); return; }
    if (from !== null && isTimed) clock.seek(x);  // a finger that moves along
    tell(x, event.clientX, event.clientY); if (isTimed) clock.hover(x);
  });
  svg.addEventListener('pointerup', event => {
    const start = from;
    from = null; chosen.setAttribute('visibility', 'hidden');
    if (start === null) return;
    const x = placeOf(event), y = placeOf({ clientX: start });
    if (event.pointerType === 'mouse' && Math.abs(event.clientX - start) > 5) clock.stretch(Math.max(g.first, Math.min(x, y)), Math.min(g.last, Math.max(x, y)));
    else if (inside(x)) clock.seek(x);
  });
  svg.addEventListener('dblclick', () => { if (isTimed) clock.stretch(null, null); });
  svg.addEventListener('keydown', event => {
    if (!isTimed) return;
    const step = (g.last - g.first) / 100;
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') clock.seek(clock.time + (event.key === 'ArrowLeft' ? -step : step));
    else if (event.key === '+' || event.key === '=') clock.stretch(Math.max(begin, clock.time - 25 * step), Math.min(end, clock.time + 25 * step));
    else if (event.key === '-' || event.key === 'Escape') clock.stretch(null, null);
    else return;
    event.preventDefault();
    tell(clock.time, svg.getBoundingClientRect().left + 60, svg.getBoundingClientRect().top + 20);
  });
  svg.addEventListener('blur', () => { tip.style.display = 'none'; });
  if (!isTimed) return;
  // What nobody sees is not moved.
  let seen = true, hovered = null;
  const refresh = () => { put(cursor, clock.time, true); put(pointed, hovered, hovered !== null); };
  if (window.IntersectionObserver) new IntersectionObserver(entries => { seen = entries[entries.length - 1].isIntersecting; if (seen) refresh(); }).observe(box);
  clock.listen({
    seek() { if (seen) refresh(); },
    hover(time) { hovered = time; if (seen) refresh(); },
    stretch(first, last) {
      g.first = first === null ? begin : first; g.last = last === null ? Math.max(end, begin + 1e-9) : last;
      draw(); put(cursor, clock.time, true);
    },
  });
}

// Buttons that save what a plot shows.
function downloads(head, plot, svg) {
  const row = html('span', 'save', null, head), file = plot.title.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '') || 'plot';
  const button = (kind, make) => { const made = html('button', '', kind, row); made.type = 'button'; made.title = `save as ${kind}`; made.addEventListener('click', () => make(`${file}.${kind.toLowerCase()}`)); };
  button('CSV', name => save(name, new Blob([csvOf(plot)], { type: 'text/csv' })));
  button('SVG', name => save(name, new Blob([standalone(svg)], { type: 'image/svg+xml' })));
  button('PNG', name => {
    const image = new Image(), canvas = document.createElement('canvas'), [, , w, h] = svg.getAttribute('viewBox').split(' ').map(Number);
    canvas.width = 3 * w; canvas.height = 3 * h;
    image.onload = () => { const c = canvas.getContext('2d'); c.fillStyle = getComputedStyle(document.body).backgroundColor; c.fillRect(0, 0, canvas.width, canvas.height); c.drawImage(image, 0, 0, canvas.width, canvas.height); canvas.toBlob(blob => save(name, blob)); };
    image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(standalone(svg));
  });
}

function save(name, blob) {
  const link = html('a'), address = URL.createObjectURL(blob);
  link.href = address; link.download = name; link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// Every curve with its own column of x, as they need not share one.
function csvOf(plot) {
  const columns = plot.series.flatMap(s => [[`${s.name}: ${plot.x_label}`, s.x], [`${s.name}: ${plot.y_label}`, s.y]])
    .concat(plot.bands.flatMap(b => [[`${b.name}: ${plot.x_label}`, b.x], [`${b.name}, lower: ${plot.y_label}`, b.lower], [`${b.name}, upper: ${plot.y_label}`, b.upper]]));
  const rows = Math.max(...columns.map(c => c[1].length)), quote = text => `"${text.replace(/"/g, '""')}"`;
  const lines = [columns.map(c => quote(c[0])).join(',')];
  for (let i = 0; i < rows; i++) lines.push(columns.map(c => i < c[1].length && c[1][i] !== null ? c[1][i] : '').join(','));
  return lines.join('\n') + '\n';
}

// The SVG with the colours and letters that the page gives it.
function standalone(svg) {
  const copy = svg.cloneNode(true), style = getComputedStyle(document.documentElement);
  copy.setAttribute('xmlns', SVG); copy.querySelectorAll('[visibility=hidden]').forEach(e => e.remove());
  copy.querySelectorAll('text').forEach(t => { t.setAttribute('fill', style.getPropertyValue('--soft').trim()); t.setAttribute('font-size', '11'); t.setAttribute('font-family', 'sans-serif'); });
  return new XMLSerializer().serializeToString(copy).replace(/var\((--[a-z0-9-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
}

// Index of the last moment not after a time, and how far it is on the way to the next one.
function momentOf(times, time) {
  let low = 0, high = times.length - 1;
  while (low < high) { const middle = (low + high + 1) >> 1; if (times[middle] <= time + 1e-9) low = middle; else high = middle - 1; }
  const span = low + 1 < times.length ? times[low + 1] - times[low] : 0;
  return { index: low, weight: span > 0 ? Math.max(0, Math.min(1, (time - times[low]) / span)) : 0 };
}
