'use strict';
// Bounds of parameters as bars: what was possible before, what still is, the nominal value and the truth.

function drawBars(bars, parent, clock) {
  const box = html('div', 'bars card', null, parent);
  box.setAttribute('role', 'img'); box.setAttribute('aria-label', 'bounds of the parameters, from what was known before to the moment shown');
  box.style.setProperty('--label', `${Math.max(4, ...bars.labels.map(label => label.length))}ch`);
  const key = html('div', 'legend', null, box);
  [[bars.words[0], 'band'], [bars.words[1], 'now'], [bars.words[2], 'dot'], ...(bars.truth ? [['truth', 'diamond']] : [])].forEach(([words, mark]) => { const entry = html('span', '', null, key); html('i', mark, null, entry); entry.append(words); });
  const rows = bars.labels.map((label, i) => {
    const low = bars.lower[0][i], high = bars.upper[0][i], row = html('div', 'row', null, box);
    html('span', 'name', label, row);
    const track = html('span', 'track', null, row), now = html('i', 'now', null, track), dot = html('i', 'dot', null, track);
    const share = value => 100 * Math.max(0, Math.min(1, (value - low) / (high - low)));
    if (bars.truth) { const truth = html('i', 'diamond', null, track); truth.style.left = `${share(bars.truth[i])}%`; truth.title = `truth ${figure3(bars.truth[i])}`; }
    const words = html('span', 'figures', null, row);
    return k => {
      const a = bars.lower[k][i], b = bars.upper[k][i];
      const known = [low, high, a, b].every(x => x !== null);
      now.style.left = known ? `${share(a)}%` : '0'; now.style.width = known ? `${Math.max(0.4, share(b) - share(a))}%` : '100%';
      dot.style.left = `${known ? share(bars.nominal[k][i]) : 50}%`;
      words.textContent = `${figure3(a)} … ${figure3(b)} ${bars.units[i].replace('^2', '²')}`;
    };
  });
  let drawn = -1;
  const show = time => { const k = momentOf(bars.time, time).index; if (k !== drawn) rows.forEach(row => row(k)); drawn = k; };
  show(Infinity);
  clock.listen({ seek: show, hover(time) { show(time === null ? clock.time : time); } });
}
