// What of three.js a page uses; the bundle of it is safe_sysid/report/page/three.min.js.
export {
  BoxGeometry, BufferAttribute, BufferGeometry, Color, ColorManagement, CylinderGeometry, DoubleSide, EdgesGeometry,
  Group, LinearSRGBColorSpace, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, NotEqualStencilFunc,
  PerspectiveCamera, Quaternion, ReplaceStencilOp, Scene, ShaderMaterial, SphereGeometry, Vector3, WebGLRenderer,
} from 'three';
