/** Settings of the documentation site. Pages are in site/pages, which scripts/docs.mjs writes; docs/decisions/docs-site.md has the reasons. */
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { contentsOf } from '../../scripts/site/contents.mjs'

const pages = fileURLToPath(new URL('../pages', import.meta.url))
const { nav, sidebar } = contentsOf(pages)

/** The address of a heading, as in the Markdown that repositories show (test/docs-names.test.ts). */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

export default defineConfig({
  title: 'pcp-ts',
  titleTemplate: ':title · pcp-ts',
  description: 'Performance Co-Pilot in TypeScript: client library, agent toolkit, collector and tools',
  lang: 'en',
  srcDir: pages,
  outDir: fileURLToPath(new URL('../dist', import.meta.url)),
  // The search index is one chunk, loaded when a reader searches.
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  cacheDir: fileURLToPath(new URL('../cache', import.meta.url)),
  // Any static server finds PAGE.html; not all of them find PAGE.
  cleanUrls: false,
  metaChunk: true,
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: anchorOf },
    // A picture for the other scheme is not shown, and then not loaded.
    image: { lazyLoading: true },
  },
  transformPageData(page) {
    if (page.relativePath === 'index.md')
      Object.assign(page.frontmatter, {
        sidebar: false,
        aside: false,
        pageClass: 'home',
        titleTemplate: false,
      })
  },
  themeConfig: {
    nav,
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    docFooter: { prev: 'Previous', next: 'Next' },
  },
})
