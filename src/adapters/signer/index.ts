// Public entry of the certificate adapter.
export { createPki } from './pki.ts';
