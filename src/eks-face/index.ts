// Public entry of the HTTP faces.
export { createEksFace } from './eks-face.ts';
