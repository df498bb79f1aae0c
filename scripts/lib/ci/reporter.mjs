/** Vitest reporter for CI: records when each file and test begins and ends. */
import { note } from './progress.mjs'

export default class ProgressReporter {
  onTestModuleQueued(module) {
    note({ suite: suiteOf(module), began: true })
  }

  onTestModuleEnd(module) {
    const { collectDuration, duration, setupDuration } = module.diagnostic()
    note({ suite: suiteOf(module), ms: collectDuration + setupDuration + duration })
  }

  onTestCaseReady(test) {
    note({ suite: suiteOf(test.module), test: test.fullName, began: true })
  }

  onTestCaseResult(test) {
    note({ suite: suiteOf(test.module), test: test.fullName, ms: test.diagnostic()?.duration ?? 0 })
  }
}

function suiteOf(module) {
  return module.relativeModuleId
}
