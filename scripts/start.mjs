// `npm start`: installs, builds and runs everything for one user. This file stays readable for old Node versions,
// so that they get one clear line instead of a syntax error.
const [major, minor] = process.versions.node.split('.').map(Number)
// The bundler's version range; the build output runs on everything from 20.19 on.
if (major < 20 || (major === 20 && minor < 19) || major === 21 || (major === 22 && minor < 12)) {
  console.error(
    `To build, pcp-ts needs Node.js 20.19, or 22.12 and newer; this is ${process.version} (${process.execPath})`,
  )
  process.exit(1)
}
import('./lib/start.mjs').catch((error) => {
  console.error(`npm start: ${error.message}`)
  process.exit(1)
})
