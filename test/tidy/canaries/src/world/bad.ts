// Canary: the world must not know the controllers, nor import lazily what it may not.
export const x = () => import('../runtime/index.ts');
export * from '../core/bad.ts';
