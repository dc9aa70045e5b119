// Public entry of the HTTP adapter.
export { createHttp } from './http.ts';
