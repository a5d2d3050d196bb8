// Mouse, pen, touch and keys on a frame: grab a line, draw a lasso, move, zoom, click.

const CLICK_DISTANCE = 4; // pixels that a pointer may move and still click
const WHEEL_STEP = 0.0015;

function at(event, element) {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

// begin(pixel, event) may return {move(pixel), end(pixel), cursor}: what a drag does in the place of moving the plot.
// hover(pixel, event) returns a cursor; leave() is told that the pointer is elsewhere.
export function listen(frame, { begin = () => null, click = () => {}, hover = () => null, leave = () => {} }) {
  const element = frame.element;
  let drag = null;

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    const start = at(event, element);
    leave();
    drag = { start, last: start, moved: false, does: begin(start, event) ?? movingOf(frame) };
  });
  element.addEventListener("pointermove", (event) => {
    const pixel = at(event, element);
    if (!drag) {
      element.style.cursor = hover(pixel, event) ?? "";
      return;
    }
    drag.moved ||= Math.hypot(pixel[0] - drag.start[0], pixel[1] - drag.start[1]) > CLICK_DISTANCE;
    if (drag.moved) drag.does.move(pixel, drag.last);
    if (drag.moved) drag.last = pixel;
  });
  element.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const done = drag;
    drag = null;
    if (done.moved) done.does.end?.(at(event, element));
    else click(done.start, event);
  });
  element.addEventListener("pointerleave", () => leave());
  element.addEventListener("pointercancel", () => {
    drag?.does.cancel?.();
    drag = null;
  });
  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      frame.zoomAt(Math.exp(WHEEL_STEP * event.deltaY), ...at(event, element));
    },
    { passive: false },
  );
}

function movingOf(frame) {
  return { move: (pixel, last) => frame.moveBy(pixel[0] - last[0], pixel[1] - last[1]) };
}

// Keys that move and zoom a frame; true when one did.
export function moveByKey(frame, key) {
  const steps = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
  const { left, top, width, height } = frame.area;
  if (key in steps) frame.moveBy(...steps[key]);
  else if (key === "+" || key === "=") frame.zoomAt(0.8, left + width / 2, top + height / 2);
  else if (key === "-") frame.zoomAt(1.25, left + width / 2, top + height / 2);
  else if (key === "0") frame.showWhole();
  else return false;
  return true;
}
