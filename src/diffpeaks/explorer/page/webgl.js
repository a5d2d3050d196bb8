// Points by WebGL2: positions are uploaded once, colours whenever they change. See points.js for what is offered.

async function text(name) {
  const response = await fetch(name);
  return response.text();
}

let sources = null;

export function loadShaders() {
  sources ??= Promise.all([text("points.vert"), text("points.frag")]);
  return sources;
}

export class WebGl {
  #gl;
  #program;
  #places = {};
  #layers = new Map();

  constructor(canvas, [vertex, fragment]) {
    const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
    this.#gl = gl;
    this.#program = link(gl, vertex, fragment);
    for (const name of ["scale", "offset", "size", "rim"]) {
      this.#places[name] = gl.getUniformLocation(this.#program, name);
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  setPositions(name, positions, size, rim = [0, 0, 0, 0]) {
    const gl = this.#gl;
    let layer = this.#layers.get(name);
    if (!layer) {
      layer = { array: gl.createVertexArray(), place: gl.createBuffer(), tint: gl.createBuffer() };
      this.#layers.set(name, layer);
      gl.bindVertexArray(layer.array);
      this.#attribute("place", layer.place, 2, gl.FLOAT, false);
      this.#attribute("tint", layer.tint, 4, gl.UNSIGNED_BYTE, true);
    }
    Object.assign(layer, { size, rim, count: 0 });
    gl.bindBuffer(gl.ARRAY_BUFFER, layer.place);
    gl.bufferData(gl.ARRAY_BUFFER, positions, gl.STATIC_DRAW);
  }

  setColours(name, colours) {
    const gl = this.#gl;
    const layer = this.#layers.get(name);
    gl.bindBuffer(gl.ARRAY_BUFFER, layer.tint);
    gl.bufferData(gl.ARRAY_BUFFER, colours, gl.DYNAMIC_DRAW);
    layer.count = colours.length;
  }

  draw(scale, offset, ratio) {
    const gl = this.#gl;
    gl.viewport(0, 0, gl.canvas.width, gl.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.#program);
    gl.uniform2fv(this.#places.scale, scale);
    gl.uniform2fv(this.#places.offset, offset);
    for (const layer of this.#layers.values()) {
      if (!layer.count) continue;
      gl.uniform1f(this.#places.size, layer.size * ratio);
      gl.uniform4fv(this.#places.rim, layer.rim);
      gl.bindVertexArray(layer.array);
      gl.drawArrays(gl.POINTS, 0, layer.count);
    }
  }

  #attribute(name, buffer, length, type, normalized) {
    const gl = this.#gl;
    const place = gl.getAttribLocation(this.#program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, length, type, normalized, 0, 0);
  }
}

function link(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return program;
}
