#version 300 es
in vec2 place;
in vec4 tint;
uniform vec2 scale;
uniform vec2 offset;
uniform float size;
out vec4 colour;

void main() {
  gl_Position = vec4(place * scale + offset, 0.0, 1.0);
  gl_PointSize = size;
  colour = tint;
}
