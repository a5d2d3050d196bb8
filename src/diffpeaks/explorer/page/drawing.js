// When plots are drawn: with the next frame of the browser, as many as fit into it, the others with those after it.

const BUDGET = 32; // milliseconds of one frame
const waiting = new Set();
let whenDone = null; // a promise, while some wait
let tellDone = null;

// Draw a plot soon, however often it is asked for until then. It has drawNow() and says what that took, as lastCost.
export function drawSoon(plot) {
  waiting.add(plot);
  if (whenDone) return;
  whenDone = new Promise((resolve) => (tellDone = resolve));
  requestAnimationFrame(drawWaiting);
}

// Until all that waits is drawn.
export function allDrawn() {
  return whenDone ?? Promise.resolve();
}

function drawWaiting() {
  let spent = 0;
  for (const plot of waiting) {
    if (spent && spent + plot.lastCost > BUDGET) break;
    waiting.delete(plot);
    plot.drawNow();
    spent += plot.lastCost;
  }
  if (waiting.size) requestAnimationFrame(drawWaiting);
  else {
    whenDone = null;
    tellDone();
  }
}
