'use strict';
// The moment that everything on the page shows.
function makeClock(first, last) {
  const listeners = [];
  const tell = (what, ...values) => listeners.forEach(each => each[what](...values));
  return {
    first, last, time: first,
    listen(listener) { listeners.push({ seek() {}, hover() {}, stretch() {}, extend() {}, ...listener }); },
    seek(time) { this.time = Math.max(this.first, Math.min(this.last, time)); tell('seek', this.time); },
    hover(time) { tell('hover', time); },
    stretch(begin, end) {
      if (begin !== null && end - begin < 1e-3 * (this.last - this.first)) return;
      document.body.classList.toggle('stretched', begin !== null); tell('stretch', begin, end);
    },
    // A run that goes on has other ends.
    extend(begin, end) { this.first = begin; this.last = end; tell('extend', begin, end); },
  };
}
