// The two forms in which a run is reported: by phase, and by work unit.

/** By phase: the numbers are the report. */
export const PHASES = {
    name: 'phase',
    async next(call) {
        const next = await call('autopilot_next', {});
        return { phase: next.action, unit: next.unitId, instructions: next.instructions, subtask: next.subtask?.id };
    },
    red: (call, counts) => call('autopilot_complete_phase', { phase: 'red', results: counts }),
    green: (call, counts) => call('autopilot_complete_phase', { phase: 'green', results: counts }),
    commit: (call, subtaskId, onprogress) => call('autopilot_commit', { subtaskId }, onprogress),
    finalize: (call, counts) => call('autopilot_finalize', { results: counts })
};

async function report(call, phase, counts, more, onprogress) {
    const unit = await call('autopilot_next_work_unit', {});
    const result = { success: true, phase, ...more };
    if (counts) {
        result.testsFailed = counts.failed;
        result.testsPassed = counts.passed;
    }
    return call('autopilot_complete_work_unit', { workUnitId: unit.id, result }, onprogress);
}

/** By work unit: the unit is named, and says whether it was done. */
export const WORK_UNITS = {
    name: 'work unit',
    async next(call) {
        const unit = await call('autopilot_next_work_unit', {});
        const phase = unit.over ? 'complete' : (unit.phase ?? unit.status).toLowerCase();
        return { phase, unit: unit.id, instructions: unit.instructions, subtask: unit.subtaskId };
    },
    red: (call, counts) => report(call, 'RED', counts, { attempts: 1 }),
    green: (call, counts) => report(call, 'GREEN', counts, { success: counts.failed === 0, logs: 'as the runner said' }),
    commit: (call, _, onprogress) => report(call, 'COMMIT', null, {}, onprogress),
    finalize: (call, counts) => report(call, 'FINALIZE', counts, {})
};
