// `npm start`: installs, builds and runs everything for one user. This file stays readable for old Node versions,
// so that they get one clear line instead of a syntax error.
const version = process.versions.node.split('.').map(Number)
if (version[0] < 20 || (version[0] === 20 && version[1] < 19)) {
  console.error(`pcp-ts needs Node.js 20.19 or newer; this is ${process.version} (${process.execPath})`)
  process.exit(1)
}
import('./lib/start.mjs').catch((error) => {
  console.error(`npm start: ${error.message}`)
  process.exit(1)
})
