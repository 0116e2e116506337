// The daemon serves the result from the root; hashed names let it say "immutable".
import { defineConfig } from 'vite'

export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
  server: { proxy: { '/v1': process.env.FAIRLEAD_URL ?? 'http://127.0.0.1:7077' } },
})
