// Builds the page into web/dist: one script, one style sheet, no request to another host.
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/page/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    // Inlined files would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: true,
  },
});
