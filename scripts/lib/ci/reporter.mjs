/** Vitest reporter for CI: records when each file and test begins and ends, and why one failed. */
import { note } from './progress.mjs'

export default class ProgressReporter {
  onTestModuleQueued(module) {
    note({ suite: suiteOf(module), began: true })
  }

  onTestModuleEnd(module) {
    const { collectDuration, duration, setupDuration } = module.diagnostic()
    note({
      suite: suiteOf(module),
      ms: collectDuration + setupDuration + duration,
      ...failure(module.errors()),
    })
  }

  onTestCaseReady(test) {
    note({ suite: suiteOf(test.module), test: test.fullName, began: true })
  }

  onTestCaseResult(test) {
    const ms = test.diagnostic()?.duration ?? 0
    note({ suite: suiteOf(test.module), test: test.fullName, ms, ...failure(test.result().errors) })
  }

  /** Errors outside of any test also fail a run. */
  onTestRunEnd(_, errors) {
    for (const error of errors) note({ suite: 'outside of tests', error: error.stack ?? String(error) })
  }
}

function failure(errors = []) {
  return errors.length === 0 ? {} : { error: errors[0].message ?? String(errors[0]) }
}

function suiteOf(module) {
  return module.relativeModuleId
}
