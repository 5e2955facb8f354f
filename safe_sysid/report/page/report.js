'use strict';
// Builds the page from the data that stands in it.

function stretchOfTime(data) {
  if (data.scene) { const t = data.scene.motion.time; return [t[0], t[t.length - 1]]; }
  const x = data.sections.flatMap(s => s.plots).filter(p => p.x_label === OVER_TIME).flatMap(p => p.series.concat(p.bands)).flatMap(s => [s.x[0], s.x[s.x.length - 1]]);
  data.sections.forEach(s => { if (s.bars) x.push(s.bars.time[0], s.bars.time[s.bars.time.length - 1]); });
  return x.length ? [Math.min(...x), Math.max(...x)] : [0, 0];
}

function build(data) {
  const main = document.querySelector('main'), [first, last] = stretchOfTime(data), clock = makeClock(first, last);
  const header = html('header', '', null, main);
  html('h1', '', data.title, header); html('p', '', data.subtitle, header);
  if (data.answer) { const answer = html('div', 'answer', null, header); html('strong', '', data.answer[0], answer); html('p', '', data.answer[1], answer); }
  const verdict = html('div', data.good ? 'verdict' : 'verdict bad', null, header);
  html('b', '', data.verdict[0], verdict); verdict.append(' ' + data.verdict[1]);
  if (data.facts.length) {
    const facts = html('div', 'facts', null, main);
    data.facts.forEach(([label, value]) => { const box = html('div', 'fact', null, facts); html('div', 'value', value, box); html('div', 'label', label, box); });
  }
  if (data.scene) buildScene(data.scene, main, clock);
  const contents = data.sections.length > 3 ? html('nav', 'contents', null, main) : null;
  if (contents) contents.setAttribute('aria-label', 'contents');
  data.sections.forEach((section, number) => {
    const made = html('section', '', null, main);
    made.id = `part${number + 1}`;
    if (contents) { const link = html('a', '', section.heading, contents); link.href = `#part${number + 1}`; }
    html('h2', '', section.heading, made);
    if (section.lead) html('p', 'lead', section.lead, made);
    if (section.picture) { const drawn = html('div', 'picture card', null, made); drawn.innerHTML = section.picture; }
    if (section.bars) drawBars(section.bars, made, clock);
    if (section.plots.length) {
      const wide = section.plots.length < 3, grid = html('div', wide ? 'plots wide' : 'plots', null, made);
      section.plots.forEach(plot => drawPlot(plot, grid, wide, clock));
    }
    if (section.tables.length) { const row = html('div', 'tables', null, made); section.tables.forEach(table => buildTable(table, row)); }
    if (section.sentences.length) {
      const list = html('ul', 'sentences', null, made);
      section.sentences.forEach(sentence => html('li', '', sentence, list));
    }
  });
  const whole = html('button', 'whole', 'Show all of the time', document.body);
  whole.type = 'button'; whole.addEventListener('click', () => clock.stretch(null, null));
  html('footer', '', data.footer, main);
  clock.seek(data.scene ? first : last);
  // On paper is what was found in the end, unless somebody chose a moment.
  window.addEventListener('beforeprint', () => { if (clock.time > first) return; clock.seek(last); if (window.viewer) window.viewer.draw(2); });
}

const SHORT = 24;  // characters of a cell that is not broken into lines

function buildTable(table, parent) {
  const scroll = html('div', 'scroll card', null, parent), made = html('table', '', null, scroll);
  scroll.tabIndex = 0;
  const head = html('tr', '', null, html('thead', '', null, made)), body = html('tbody', '', null, made);
  table.columns.forEach((name, i) => { const cell = html('th', table.rows.length && typeof table.rows[0][i] === 'string' ? 'text' : '', name, head); cell.scope = 'col'; });
  table.rows.forEach(row => { const line = html('tr', '', null, body); row.forEach(cell => html('td', typeof cell !== 'string' ? '' : cell.length < SHORT ? 'text short' : 'text', typeof cell === 'string' ? cell : figure3(cell), line)); });
}

build(JSON.parse(document.getElementById('data').textContent));
