// What of three.js a page uses; the bundle of it is safe_sysid/report/page/three.min.js.
export {
  BoxGeometry, BufferAttribute, BufferGeometry, Color, CylinderGeometry, DirectionalLight, DoubleSide, EdgesGeometry,
  Group, HemisphereLight, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial,
  NotEqualStencilFunc, PerspectiveCamera, Quaternion, ReplaceStencilOp, Scene, SphereGeometry, SRGBColorSpace, Vector3, WebGLRenderer,
} from 'three';
