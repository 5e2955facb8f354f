'use strict';
// Line plots with bands as SVG; every plot over time has a cursor that follows the slider.

const SVG = 'http://www.w3.org/2000/svg';

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
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

function ticks(low, high, count) {
  const rough = (high - low) / count, power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough);
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

function extent(plot, log) {
  let low = Infinity, high = -Infinity;
  const take = v => { if (v === null || (log && v <= 0)) return; const y = log ? Math.log10(v) : v; low = Math.min(low, y); high = Math.max(high, y); };
  plot.series.forEach(s => s.y.forEach(take));
  plot.bands.forEach(b => { b.lower.forEach(take); b.upper.forEach(take); });
  if (!isFinite(low)) { low = 0; high = 1; }
  if (high - low < 1e-12) { const pad = log ? 0.5 : Math.max(Math.abs(high) * 0.1, 1e-6); low -= pad; high += pad; }
  const pad = 0.06 * (high - low);
  return [low - pad, high + pad];
}

function path(points) {
  let text = '', pen = false;
  points.forEach(p => { if (!p) { pen = false; return; } text += (pen ? 'L' : 'M') + p[0].toFixed(1) + ' ' + p[1].toFixed(1); pen = true; });
  return text;
}

function drawPlot(plot, parent, wide) {
  const W = wide ? 560 : 360, H = wide ? 250 : 200, left = 52, right = 12, top = 20, bottom = 30, log = plot.log;
  const box = html('figure', 'card', null, parent);
  html('figcaption', '', plot.title, box);
  const svg = element('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': plot.title }, box);
  const all = plot.series.concat(plot.bands);
  const first = Math.min(...all.map(s => s.x[0])), last = Math.max(...all.map(s => s.x[s.x.length - 1]));
  const span = last > first ? last - first : 1;
  const [low, high] = extent(plot, log);
  const X = x => left + (x - first) / span * (W - left - right);
  const Y = y => H - bottom - ((log ? Math.log10(y) : y) - low) / (high - low) * (H - top - bottom);
  const at = (x, y) => (y === null || (log && y <= 0)) ? null : [X(x), Y(y)];
  (log ? logTicks(low, high) : ticks(low, high, 5)).forEach(t => {
    const value = log ? Math.pow(10, t) : t, y = Y(value);
    element('line', { x1: left, x2: W - right, y1: y, y2: y, stroke: 'var(--grid)' }, svg);
    element('text', { x: left - 6, y: y + 3.5, 'text-anchor': 'end' }, svg).textContent = figure3(value);
  });
  ticks(first, first + span, wide ? 8 : 5).forEach(t => {
    element('text', { x: X(t), y: H - bottom + 15, 'text-anchor': 'middle' }, svg).textContent = figure3(t);
  });
  element('line', { x1: left, x2: W - right, y1: H - bottom, y2: H - bottom, stroke: 'var(--line)' }, svg);
  element('text', { x: left - 44, y: 11, class: 'unit' }, svg).textContent = plot.y_label;
  element('text', { x: W - right, y: H - 2, 'text-anchor': 'end', class: 'unit' }, svg).textContent = plot.x_label;
  plot.bands.forEach(b => {
    const upper = b.x.map((x, i) => at(x, b.upper[i])), lower = b.x.map((x, i) => at(x, b.lower[i]));
    let run = [];
    const close = () => { if (run.length > 1) element('path', { d: path(run.map(i => upper[i]).concat(run.slice().reverse().map(i => lower[i]))) + 'Z', fill: `var(--c${b.color})`, opacity: 0.16 }, svg); run = []; };
    b.x.forEach((_, i) => { if (upper[i] && lower[i]) run.push(i); else close(); });
    close();
    [upper, lower].forEach(edge => element('path', { d: path(edge), fill: 'none', stroke: `var(--c${b.color})`, 'stroke-width': 1, opacity: 0.55 }, svg));
  });
  plot.series.forEach(s => {
    if (s.style === 'points') {
      s.x.forEach((x, i) => { const p = at(x, s.y[i]); if (p) element('circle', { cx: p[0], cy: p[1], r: 3, fill: `var(--c${s.color})` }, svg); });
      return;
    }
    let points = s.x.map((x, i) => at(x, s.y[i]));
    if (s.style === 'step') points = points.flatMap((p, i) => (i && p && points[i - 1]) ? [[p[0], points[i - 1][1]], p] : [p]);
    element('path', { d: path(points), fill: 'none', stroke: `var(--c${s.color})`, 'stroke-width': s.style === 'limit' ? 1 : 1.6, 'stroke-dasharray': s.style === 'limit' ? '5 4' : 'none', 'stroke-linejoin': 'round' }, svg);
  });
  const cursor = element('line', { y1: top, y2: H - bottom, stroke: 'var(--ink)', 'stroke-width': 1, opacity: 0.45, visibility: 'hidden' }, svg);
  const legend = html('div', 'legend', null, box);
  if (all.length > 1 || plot.bands.length) all.filter((s, i) => all.findIndex(o => o.name === s.name) === i).forEach(s => {
    const entry = html('span', '', null, legend), mark = html('i', s.lower ? 'band' : '', null, entry);
    mark.style.background = `var(--c${s.color})`; entry.append(s.name);
  });
  hover(box, svg, plot, { first, last, left, right, W, cursor, X });
  return {
    seek(time) {
      if (plot.x_label !== 'time [s]') return;
      cursor.setAttribute('visibility', time >= first && time <= last ? 'visible' : 'hidden');
      cursor.setAttribute('x1', X(time)); cursor.setAttribute('x2', X(time));
    },
  };
}

function hover(box, svg, plot, g) {
  const tip = html('div', 'tip', null, box);
  svg.addEventListener('pointerleave', () => { tip.style.display = 'none'; });
  svg.addEventListener('pointermove', event => {
    const bounds = svg.getBoundingClientRect();
    const x = g.first + ((event.clientX - bounds.left) / bounds.width * g.W - g.left) / (g.W - g.left - g.right) * (g.last - g.first);
    if (x < g.first || x > g.last) { tip.style.display = 'none'; return; }
    const near = s => { let i = s.x.findIndex(v => v > x); i = i < 0 ? s.x.length - 1 : Math.max(0, i - 1); return i; };
    tip.replaceChildren();
    html('div', '', `${figure3(x)} ${plot.x_label.replace(/^.*\[|\]$/g, '')}`, tip);
    plot.series.forEach(s => html('div', '', `${s.name}: ${figure3(s.y[near(s)])}`, tip));
    plot.bands.forEach(b => html('div', '', `${b.name}: ${figure3(b.lower[near(b)])} to ${figure3(b.upper[near(b)])}`, tip));
    tip.style.display = 'block';
    const place = event.clientX - box.getBoundingClientRect().left;
    tip.style.left = `${Math.min(place + 14, box.clientWidth - tip.offsetWidth - 6)}px`;
    tip.style.top = `${event.clientY - box.getBoundingClientRect().top + 12}px`;
  });
}
