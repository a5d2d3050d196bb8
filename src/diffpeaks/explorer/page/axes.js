// Axes, lines and marks on the canvas above the points.

export function inkOf(element) {
  const style = getComputedStyle(element);
  const read = (name) => style.getPropertyValue(name).trim();
  const strong = read("--text");
  const rim = [...[1, 3, 5].map((place) => parseInt(strong.slice(place, place + 2), 16) / 255), 1];
  return {
    text: read("--quiet"),
    strong,
    rim,
    grid: read("--grid"),
    faint: read("--faint"),
    line: read("--accent"),
    paper: read("--panel"),
  };
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function powerOfTen(exponent) {
  if (Math.abs(exponent) <= 3) return String(Number((10 ** exponent).toPrecision(1)));
  const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[digit]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${digits}`;
}

// Ticks of an axis in log10: powers of ten, with 2 and 5 of each where there are few.
export function logTicks(low, high) {
  const ticks = [];
  const few = high - low < 3;
  const step = Math.max(1, Math.ceil((high - low) / 8));
  for (let power = Math.floor(low); power <= Math.ceil(high); power += 1) {
    if (power % step === 0) ticks.push([power, powerOfTen(power)]);
    if (few) for (const part of [2, 5]) ticks.push([power + Math.log10(part), shortNumber(part * 10 ** power)]);
  }
  return ticks.filter(([value]) => value >= low && value <= high);
}

export function linearTicks(low, high, most = 6) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((part) => part * power >= rough);
  const ticks = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
    ticks.push([value, shortNumber(Math.round(value / step) * step)]);
  }
  return ticks;
}

export function shortNumber(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace("e+", "e");
  return String(Number(value.toPrecision(3)));
}

function fontOf({ element }) {
  return `${Math.round(0.85 * parseFloat(getComputedStyle(element).fontSize))}px system-ui, sans-serif`;
}

export function drawAxes(context, frame, ink, { xTicks, yTicks, xName, yName }) {
  const { left, top, width, height } = frame.area;
  context.font = fontOf(frame);
  context.lineWidth = 1;
  context.strokeStyle = ink.grid;
  context.fillStyle = ink.text;
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const [value, name] of xTicks) {
    const x = Math.round(frame.toPixel(value, 0)[0]) + 0.5;
    stroke(context, [
      [x, top],
      [x, top + height],
    ]);
    context.fillText(name, x, top + height + 4);
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const [value, name] of yTicks) {
    const y = Math.round(frame.toPixel(0, value)[1]) + 0.5;
    stroke(context, [
      [left, y],
      [left + width, y],
    ]);
    context.fillText(name, left - 5, y);
  }
  context.textAlign = "right";
  context.textBaseline = "bottom";
  context.fillText(xName, left + width, top + height + 30);
  context.save();
  context.translate(2, top);
  context.rotate(-Math.PI / 2);
  context.textBaseline = "top";
  context.fillText(yName, 0, 0);
  context.restore();
}

// A line that can be grabbed: dashed, with a handle at its right end and its name at that end (0: left, 1: right).
export function drawCutLine(context, frame, ink, points, name, end) {
  const { left, top, width, height } = frame.area;
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  for (const [colour, thickness, dash] of [
    [ink.paper, 4, []],
    [ink.line, 2, [7, 4]],
  ]) {
    context.strokeStyle = colour;
    context.lineWidth = thickness;
    context.setLineDash(dash);
    stroke(context, points);
  }
  context.restore();
  context.fillStyle = ink.line;
  context.beginPath();
  context.arc(points[1][0], within(points[1][1], top, top + height), 5, 0, 2 * Math.PI);
  context.fill();
  drawName(context, frame, ink, points[end], name, end);
}

function drawName(context, frame, ink, [x, y], name, end) {
  const { left, top, width, height } = frame.area;
  context.font = `600 ${fontOf(frame)}`;
  context.textAlign = "left";
  context.textBaseline = "bottom";
  const room = context.measureText(name).width;
  const start = within(end ? x - room - 10 : x + 6, left + 2, left + width - room - 2);
  const bottom = y - 5 < top + 12 ? top + 20 : within(y - 5, top + 14, top + height - 3);
  context.fillStyle = ink.paper;
  context.fillRect(start - 3, bottom - 14, room + 6, 15);
  context.fillStyle = ink.line;
  context.fillText(name, start, bottom);
}

function within(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

export function stroke(context, points) {
  context.beginPath();
  points.forEach(([x, y], place) => (place ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
}

// A ring around a point, readable on any colour.
export function ring(context, ink, [x, y], radius, width = 2) {
  for (const [colour, thickness] of [
    [ink.paper, width + 2],
    [ink.strong, width],
  ]) {
    context.strokeStyle = colour;
    context.lineWidth = thickness;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
  }
}
