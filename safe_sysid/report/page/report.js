'use strict';
// Builds the page from the data that stands in it.

function build(data) {
  const main = document.querySelector('main'), seekers = [];
  const header = html('header', '', null, main);
  html('h1', '', data.title, header); html('p', '', data.subtitle, header);
  const verdict = html('div', data.good ? 'verdict' : 'verdict bad', null, header);
  html('b', '', data.verdict[0], verdict); verdict.append(' ' + data.verdict[1]);
  if (data.facts.length) {
    const facts = html('div', 'facts', null, main);
    data.facts.forEach(([label, value]) => { const box = html('div', 'fact', null, facts); html('div', 'value', value, box); html('div', 'label', label, box); });
  }
  if (data.scene) seekers.push(...buildScene(data.scene, main, seekers));
  data.sections.forEach(section => {
    const made = html('section', '', null, main);
    html('h2', '', section.heading, made);
    if (section.lead) html('p', 'lead', section.lead, made);
    if (section.plots.length) {
      const wide = section.plots.length < 3, grid = html('div', wide ? 'plots wide' : 'plots', null, made);
      section.plots.forEach(plot => { const drawn = drawPlot(plot, grid, wide); seekers.push(drawn.seek); });
    }
    if (section.tables.length) { const row = html('div', 'tables', null, made); section.tables.forEach(table => buildTable(table, row)); }
    if (section.sentences.length) {
      const list = html('ul', 'sentences', null, made);
      section.sentences.forEach(sentence => html('li', '', sentence, list));
    }
  });
  html('footer', '', data.footer, main);
  if (data.scene) document.getElementById('time').dispatchEvent(new Event('input'));
}

function buildTable(table, parent) {
  const scroll = html('div', 'scroll card', null, parent), made = html('table', '', null, scroll);
  const head = html('tr', '', null, html('thead', '', null, made)), body = html('tbody', '', null, made);
  table.columns.forEach((name, i) => html('th', table.rows.length && typeof table.rows[0][i] === 'string' ? 'text' : '', name, head));
  table.rows.forEach(row => { const line = html('tr', '', null, body); row.forEach(cell => html('td', typeof cell === 'string' ? 'text' : '', typeof cell === 'string' ? cell : figure3(cell), line)); });
}

function buildScene(scene, main, seekers) {
  const card = html('div', 'viewer card', null, main), canvas = html('canvas', '', null, card);
  canvas.id = 'arm'; canvas.setAttribute('role', 'img'); canvas.setAttribute('aria-label', 'the arm in 3D');
  const keys = html('div', 'keys', null, card);
  scene.keys.forEach(([name, tone]) => { const line = html('div', '', null, keys), mark = html('i', '', null, line); mark.style.background = `var(--${tone})`; line.append(name); });
  html('div', 'hint', 'drag to turn, wheel to zoom, double click to reset', card);
  const bar = html('div', 'play', null, card), button = html('button', '', 'Play', bar);
  const slider = html('input', '', null, bar), shown = html('output', '', '', bar);
  slider.type = 'range'; slider.id = 'time'; slider.min = 0; slider.max = scene.time.length - 1; slider.value = 0; slider.step = 1;
  slider.setAttribute('aria-label', 'time'); button.id = 'play';
  const viewer = makeViewer(canvas, scene);
  if (scene.occupancy.length) {
    const label = html('label', '', null, bar), box = html('input', '', null, label);
    box.type = 'checkbox'; box.checked = true; label.append(' whole plan');
    box.addEventListener('change', () => viewer.showPlan(box.checked));
  }
  const seek = index => {
    viewer.show(index); shown.textContent = `${scene.time[index].toFixed(2)} s`;
    seekers.forEach(each => each(scene.time[index]));
  };
  slider.addEventListener('input', () => seek(Number(slider.value)));
  let playing = null;
  const stop = () => { if (playing) cancelAnimationFrame(playing.id); playing = null; button.textContent = 'Play'; };
  const step = now => {
    const time = playing.from + (now - playing.since) / 1000;
    let index = scene.time.findIndex(t => t > time);
    if (index < 0) { slider.value = scene.time.length - 1; seek(scene.time.length - 1); stop(); return; }
    slider.value = Math.max(0, index - 1); seek(Number(slider.value));
    playing.id = requestAnimationFrame(step);
  };
  button.addEventListener('click', () => {
    if (playing) { stop(); return; }
    if (Number(slider.value) >= scene.time.length - 1) slider.value = 0;
    playing = { from: scene.time[Number(slider.value)], since: performance.now() };
    playing.id = requestAnimationFrame(step); button.textContent = 'Pause';
  });
  return [];
}

build(JSON.parse(document.getElementById('data').textContent));
