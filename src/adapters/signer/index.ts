// Public entry of the certificate adapter.
export { addController, createPki } from './pki.ts';
export { signRequest } from './requests.ts';
