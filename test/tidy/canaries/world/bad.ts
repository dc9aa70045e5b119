// Canary: the world must not know the controllers, nor import lazily what it may not.
export const x = () => import('../src/runtime/index.ts');
export * from '../src/core/bad.ts';
