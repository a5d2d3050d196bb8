#version 300 es
precision highp float;
in vec4 colour;
uniform float size;
uniform vec4 rim; // colour of the outline; transparent for none
out vec4 fragment;

void main() {
  float radius = 0.5 * size;
  float distance = length(gl_PointCoord - 0.5) * size;
  float inside = clamp(radius - distance + 0.5, 0.0, 1.0);
  float outline = rim.a * clamp(distance - radius + 1.8, 0.0, 1.0);
  vec3 shade = mix(colour.rgb, rim.rgb, outline);
  float alpha = colour.a * inside;
  fragment = vec4(shade * alpha, alpha);
}
