/** A change of the product that tests of the gate must notice. */
export interface Mutant {
  /** File that is changed. */
  readonly file: string;
  /** Text that stands in it once. */
  readonly find: string;
  readonly replace: string;
}

/** Mutants of one subject, and the tests of the gate that are about it. */
export interface MutantGroup {
  readonly subject: string;
  readonly tests: readonly string[];
  readonly mutants: readonly Mutant[];
}

/** Mutants of one file, as pairs of the text that is there and the text instead. */
function inFile(file: string, changes: readonly (readonly [find: string, replace: string])[]): Mutant[] {
  return changes.map(([find, replace]) => ({ file, find, replace }));
}

export const MUTANT_GROUPS: readonly MutantGroup[] = [
  {
    subject: 'decisions about incidents and escalation',
    tests: [
      'test/modules/incidents/decide',
      'test/modules/policies/decide',
      'test/modules/schedules/decide',
      'test/modules/contacts/decide',
      'test/modules/notifications/decide',
    ],
    mutants: [
      ...inFile('src/modules/incidents/decide/incident.ts', [
        [
          "case 'acknowledged':\n      return 'unchanged';\n    case 'resolved':\n      return 'conflict';",
          "case 'acknowledged':\n      return 'change';\n    case 'resolved':\n      return 'conflict';",
        ],
        ["case 'resolved':\n      return 'unchanged';", "case 'resolved':\n      return 'change';"],
        ['> REOPEN_DAYS_MAX * DAY_MS', '>= REOPEN_DAYS_MAX * DAY_MS'],
        [
          "incident.acknowledgedAt === null ? 'triggered' : 'acknowledged'",
          "incident.acknowledgedAt === null ? 'acknowledged' : 'triggered'",
        ],
      ]),
      ...inFile('src/modules/incidents/decide/escalation_state.ts', [
        [
          'a.dueAt.epochMilliseconds - b.dueAt.epochMilliseconds',
          'b.dueAt.epochMilliseconds - a.dueAt.epochMilliseconds',
        ],
        ["state: 'paused', ...idle", "state: 'finished', ...idle"],
        ["if (incident.parentId !== null) return 'incident';", ''],
      ]),
      ...inFile('src/modules/policies/decide/escalation.ts', [
        [
          'a.afterMinutes - b.afterMinutes || a.index - b.index',
          'b.afterMinutes - a.afterMinutes || a.index - b.index',
        ],
        ['.filter(({ countsFrom }) => countsFrom === stepAt(steps, stepIndex)?.countsFrom)', ''],
        ['countsFrom === undefined ? triggeredAt', 'countsFrom !== undefined ? triggeredAt'],
        ['stoppedMs <= MISTAKE_MS_MAX ? 0', 'stoppedMs <= 0 ? 0'],
        ['steps[stepIndex - firstStepIndex(steps)]', 'steps[stepIndex]'],
      ]),
      ...inFile('src/modules/policies/decide/recipients.ts', [
        [', ...(asks ? audience : [])', ''],
        [
          "if (!contact) return { kind: 'skipped', userId, channel, reason: 'left_organization' };",
          "if (!contact) return { kind: 'failed', userId, channel, reason: 'channel_not_configured' };",
        ],
        ['if (!wantsChannel(contact, channel))', 'if (false)'],
        ["statuses.every((status) => status === 'failed' || status === 'skipped')", 'true'],
      ]),
      ...inFile('src/modules/notifications/decide/message_limit.ts', [
        ['(carriesPage || message ===', '(message ==='],
        ['.at(-MESSAGES_PER_MINUTE_MAX)', '.at(-MESSAGES_PER_MINUTE_MAX - 1)'],
        ['dueAt: blocking.add(WINDOW)', 'dueAt: now.add(WINDOW)'],
      ]),
      ...inFile('src/modules/schedules/decide/overrides.ts', [
        ['.toSorted(byCreation).at(-1)', '.toSorted(byCreation).at(0)'],
        ['!isAtOrBefore(endAt, at)', 'true'],
      ]),
      ...inFile('src/modules/schedules/decide/layered_shifts.ts', [
        ['keyOfPeople(last.userIds) === keyOfPeople(following.userIds)', 'false'],
        ['a.layer === b.layer &&', ''],
      ]),
      ...inFile('src/modules/schedules/decide/layer_pieces.ts', [
        ['if (a.speaks || b.speaks) return a.speaks ? b : a;', 'if (a.speaks || b.speaks) return a;'],
        ['if (at >= end) return', 'if (at > end + 60_000) return'],
      ]),
      ...inFile('src/modules/incidents/decide/group.ts', [
        ['parent.escalationPolicyId === escalationPolicyId &&', ''],
        ['worseSeverity(parent.severity, severity) === parent.severity', 'true'],
        ['!parent.isBound &&', ''],
      ]),
    ],
  },
  {
    subject: 'decisions of rules',
    tests: ['test/modules/metrics/decide', 'test/modules/rules/decide'],
    mutants: [
      ...inFile('src/modules/rules/decide/breach.ts', [
        ["'>=': (value, threshold) => value >= threshold", "'>=': (value, threshold) => value > threshold"],
        ["'<': (value, threshold) => value < threshold", "'<': (value, threshold) => value <= threshold"],
        ['if (value === null) return false;', ''],
        ['sinceCountedMs >= windowMinutes * MINUTE_MS', 'sinceCountedMs >= 0'],
        [
          'return Math.max(settings.recoveryMinutes ?? windowMinutes, flapMinutes);',
          'return settings.recoveryMinutes ?? windowMinutes;',
        ],
        ['recentIncidents >= flapIncidents', 'recentIncidents > flapIncidents'],
        ['elapsedMs < -60_000', 'elapsedMs < 0'],
        ["if (isSilent && settings.noData === 'resolve') return { kind: 'resolve', because: 'no_data' };", ''],
      ]),
    ],
  },
  {
    subject: 'counters',
    tests: ['test/modules/metrics/decide'],
    mutants: [
      ...inFile('src/modules/metrics/decide/series_points.ts', [
        ['isReset(before, now) ? now : now - before', 'now - before'],
        ['now < before && (before - now) * SMALL_FALL_PARTS >= before', 'now < before'],
      ]),
      ...inFile('src/modules/metrics/decide/counter_writers.ts', [
        ['if (sample.startAt === current.startAt)', 'if (isClose(current, sample))'],
        ['sample.at > earlier.at ?', 'sample.at >= earlier.at - 60_000 ?'],
        ["if (sample.startAt >= current.at) return { kind: 'start' };", ''],
        ['value: isOld(sample) ? sample.value : 0', 'value: 0'],
        ["isShared ? { kind: 'value', value: sample.value, isOverlap: true } : { kind: 'start' }", "{ kind: 'start' }"],
        ['&& writer.value <= sample.value', ''],
      ]),
    ],
  },
  {
    subject: 'groups of exceptions and their dedup',
    tests: ['test/modules/exceptions/decide/seen_events.test.ts', 'test/modules/exceptions/decide/triage.test.ts'],
    mutants: [
      ...inFile('src/modules/exceptions/decide/seen_events.ts', [
        ["if (after.decision !== 'regression') continue;", 'continue;'],
        ['level = worseLevel(level, occurrence.level);', ''],
        ['ofService.slice(room)', 'ofService.slice(0)'],
        ['return `${serviceId} ${key}`;', 'return key;'],
      ]),
      ...inFile('src/modules/exceptions/decide/occurrence.ts', [
        ["group.status === 'resolved' && (isStored || isBefore(seen.receivedAt, group.statusChangedAt))", 'false'],
        [
          "status: 'unresolved',\n    statusChangedAt: seen.receivedAt",
          'status: group.status,\n    statusChangedAt: seen.receivedAt',
        ],
        ['lastSeenAt: isLast ? seen.at : group.lastSeenAt', 'lastSeenAt: seen.at'],
      ]),
    ],
  },
  {
    subject: 'the life of an incident',
    tests: [
      'test/journeys/paging/escalation.test.ts',
      'test/journeys/paging/escalation_steps.test.ts',
      'test/journeys/incident_life.test.ts',
      'test/journeys/flood.test.ts',
      'test/journeys/rules.test.ts',
      'test/journeys/paging/quiet_paging.test.ts',
      'test/journeys/paging/storm.test.ts',
      'test/journeys/paging/undo.test.ts',
      'test/modules/incidents',
    ],
    mutants: [
      ...inFile('src/modules/incidents/paging/fire_step.ts', [
        ["if (incident?.status !== 'triggered') return null;", 'if (!incident) return null;'],
        ['for (const notificationId of ids) enqueue(deliverPage, { notificationId });', ''],
        ["nobodyReached === 'acknowledged' ? null : await fireNextStep(unit, incident, stepIndex)", 'null'],
      ]),
      ...inFile('src/modules/incidents/acknowledge.ts', [
        ["await stopEscalation(unit, incident, 'acknowledged', by);", ''],
      ]),
      ...inFile('src/modules/incidents/change_status.ts', [
        ["await stopEscalation(unit, incident, 'resolved', by, details);", ''],
        ['await releaseChildren(unit, incident);', ''],
        ['if (await unit.stores.storms.hasOpenMembers(storm.id)) return false;', ''],
      ]),
      ...inFile('src/modules/incidents/open_incidents.ts', [
        ['for (const { incidentId, timers } of opened) scheduleSteps(unit, incidentId, timers);', ''],
      ]),
      ...inFile('src/modules/incidents/paging/firing.ts', [
        ['`${rule.ruleId}.${cause.exceptionGroupId}`', 'rule.ruleId'],
      ]),
      ...inFile('src/modules/incidents/store/step_timer_store.ts', [
        [
          ".where('step_index', '=', stepIndex)\n      .where('due_at', '<=', now)",
          ".where('step_index', '=', stepIndex)",
        ],
      ]),
      ...inFile('src/modules/incidents/paging/send_notification.ts', [
        ['if (await joinsDigest(unit, notification)) return null;', ''],
      ]),
      ...inFile('src/modules/rules/apply_metric_rule.ts', [['else await resolve(unit, incident, by, details);', '']]),
    ],
  },
  {
    subject: 'tenancy',
    tests: ['test/contract/tenancy.test.ts', 'test/entry/http/console/operations.test.ts'],
    mutants: [
      ...inFile('src/modules/teams/store.ts', [
        [
          "selectFrom('teams as t').select(columns(TeamEntity, 't')).where('t.org_id', '=', orgId)",
          "selectFrom('teams as t').select(columns(TeamEntity, 't'))",
        ],
      ]),
      ...inFile('src/modules/dashboards/store.ts', [
        ["deleteFrom('dashboards').where('org_id', '=', orgId)", "deleteFrom('dashboards')"],
      ]),
      ...inFile('src/modules/policies/store.ts', [[".where('p.org_id', '=', orgId)", '']]),
    ],
  },
  {
    subject: 'sign-in and keys',
    tests: [
      'test/auth/sign_in_limiter.test.ts',
      'test/entry/http/console/session.test.ts',
      'test/entry/http/console/sign_in_limits.test.ts',
      'test/entry/http/console/second_factor.test.ts',
      'test/auth/may_act.test.ts',
      'test/contract/authentication.test.ts',
      'test/contract/permissions.test.ts',
    ],
    mutants: [
      ...inFile('src/auth/sign_in_limiter.ts', [['isAllowed: tries <= max', 'isAllowed: tries <= max + 1']]),
      ...inFile('src/auth/sign_in_limiter.ts', [
        ['key: `account:${account}`, ...ofAccount', 'key: `address:${network}`, ...ofAccount'],
        ['await stores.signInLimits.undoAttempt(key);', 'void key;'],
      ]),
      ...inFile('src/auth/sessions.ts', [
        ['usedSince: now.subtract(IDLE)', 'usedSince: now.subtract(LIFETIME)'],
        ['> STEP_UP_MS', '> 100 * STEP_UP_MS'],
      ]),
      ...inFile('src/auth/may_act.ts', [
        ['isManagerRole(standing.role) && !standing.hasSecondFactor;', 'false;'],
        ["if (way.number === 'unconfirmed') return 'number_unconfirmed';", ''],
        ["if (way.number === 'of_another') return 'number_of_another';", ''],
      ]),
      ...inFile('src/auth/api_keys.ts', [
        ['(key.userId !== null && key.role === null)', 'false'],
        ['ceiling.filter((permission) => granted.includes(permission))', 'ceiling'],
      ]),
    ],
  },
];
