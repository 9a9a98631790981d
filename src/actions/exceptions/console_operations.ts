import { browseExceptionGroups } from '#actions/exceptions/browse_exception_groups.ts';
import { getExceptionOverview } from '#actions/exceptions/get_exception_overview.ts';
import { listEventExtras } from '#actions/exceptions/list_event_extras.ts';
import { listFeedback } from '#actions/exceptions/list_feedback.ts';
import { listExceptionEvents } from '#actions/exceptions/list_exception_events.ts';
import { listExceptionOrigins } from '#actions/exceptions/list_exception_origins.ts';
import { mergeExceptionGroups } from '#actions/exceptions/merge_exception_groups.ts';
import { readEventAttachment } from '#actions/exceptions/read_event_attachment.ts';
import { getExceptionSettings } from '#actions/exceptions/get_exception_settings.ts';
import { resolveInRelease } from '#actions/exceptions/resolve_in_release.ts';
import { undoExceptionMerges } from '#actions/exceptions/undo_exception_merges.ts';
import { setExceptionSettings } from '#actions/exceptions/set_exception_settings.ts';
import { setExceptionStatuses } from '#actions/exceptions/set_exception_statuses.ts';
import { setMatchingStatuses } from '#actions/exceptions/set_matching_statuses.ts';
import { splitExceptionGroups } from '#actions/exceptions/split_exception_groups.ts';
import { splitExceptionMessage } from '#actions/exceptions/split_exception_message.ts';
import { undoExceptionStatuses } from '#actions/exceptions/undo_exception_statuses.ts';
import { listReleaseHealth } from '#actions/services/list_release_health.ts';

/** Operations of the console for exceptions, besides the actions. */
export const EXCEPTION_OPERATIONS = [
  browseExceptionGroups,
  getExceptionOverview,
  listExceptionEvents,
  listEventExtras,
  listFeedback,
  readEventAttachment,
  listExceptionOrigins,
  listReleaseHealth,
  getExceptionSettings,
  setExceptionSettings,
  setExceptionStatuses,
  setMatchingStatuses,
  resolveInRelease,
  undoExceptionStatuses,
  mergeExceptionGroups,
  splitExceptionGroups,
  splitExceptionMessage,
  undoExceptionMerges,
] as const;
