'use strict';
// Surfaces in the light of a sky and a sun, computed at their corners: where a processor draws every pixel by itself,
// light and colours computed for each of them take most of the time.

const SHADED_CORNERS = `
uniform vec3 color; varying vec3 tint;
const vec3 SUN = vec3(0.384, -0.512, 0.768), SKY = vec3(0.64), GROUND = vec3(0.16, 0.17, 0.22);
void main() {
  vec4 place = modelViewMatrix * vec4(position, 1.0);
  vec3 seen = normalMatrix * normal;
  #ifdef DOUBLE_SIDED
  if (dot(seen, place.xyz) > 0.0) seen = -seen;
  #endif
  vec3 n = normalize((vec4(seen, 0.0) * viewMatrix).xyz);  // in the frame of the base
  vec3 light = mix(GROUND, SKY, 0.5 + 0.5 * n.z) + 0.6 * max(dot(n, SUN), 0.0);
  tint = pow(light * pow(color, vec3(2.2)), vec3(1.0 / 2.2));
  gl_Position = projectionMatrix * place;
}`;
const SHADED_PIXELS = `
uniform float opacity; varying vec3 tint;
void main() { gl_FragColor = vec4(tint, opacity); }`;

class Shaded extends THREE.ShaderMaterial {
  constructor(options) {
    const { opacity = 1, ...more } = options, uniforms = { color: { value: new THREE.Color() }, opacity: { value: opacity } };
    super({ uniforms, vertexShader: SHADED_CORNERS, fragmentShader: SHADED_PIXELS, ...more });
    this.opacity = opacity;
  }

  get color() { return this.uniforms.color.value; }
  set color(color) { this.uniforms.color.value = color; }
  get opacity() { return this.uniforms ? this.uniforms.opacity.value : 1; }
  set opacity(opacity) { if (this.uniforms) this.uniforms.opacity.value = opacity; }
}
