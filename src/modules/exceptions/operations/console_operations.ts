import { addExceptionComment } from '#modules/exceptions/operations/activity/add_exception_comment.ts';
import { assignExceptions } from '#modules/exceptions/operations/assignment/assign_exceptions.ts';
import { getExceptionAssignment } from '#modules/exceptions/operations/assignment/get_exception_assignment.ts';
import { setExceptionAssignment } from '#modules/exceptions/operations/assignment/set_exception_assignment.ts';
import { browseExceptionEvents } from '#modules/exceptions/operations/search/browse_exception_events.ts';
import { deleteSavedSearch } from '#modules/exceptions/operations/search/delete_saved_search.ts';
import { listExceptionUsers } from '#modules/exceptions/operations/search/list_exception_users.ts';
import { listSavedSearches } from '#modules/exceptions/operations/search/list_saved_searches.ts';
import { saveSearch } from '#modules/exceptions/operations/search/save_search.ts';
import { watchException } from '#modules/exceptions/operations/activity/watch_exception.ts';
import { setExceptionIssue } from '#modules/exceptions/operations/activity/set_exception_issue.ts';
import { browseExceptionGroups } from '#modules/exceptions/operations/browse_exception_groups.ts';
import { getExceptionOverview } from '#modules/exceptions/operations/get_exception_overview.ts';
import { listEventExtras } from '#modules/exceptions/operations/list_event_extras.ts';
import { listFeedback } from '#modules/exceptions/operations/list_feedback.ts';
import { deleteExceptionComment } from '#modules/exceptions/operations/activity/delete_exception_comment.ts';
import { editExceptionComment } from '#modules/exceptions/operations/activity/edit_exception_comment.ts';
import { listExceptionActivity } from '#modules/exceptions/operations/activity/list_exception_activity.ts';
import { snoozeExceptions } from '#modules/exceptions/operations/snooze_exceptions.ts';
import { listExceptionEvents } from '#modules/exceptions/operations/list_exception_events.ts';
import { listExceptionOrigins } from '#modules/exceptions/operations/list_exception_origins.ts';
import { mergeExceptionGroups } from '#modules/exceptions/operations/merge_exception_groups.ts';
import { readEventAttachment } from '#modules/exceptions/operations/read_event_attachment.ts';
import { getExceptionSettings } from '#modules/exceptions/operations/get_exception_settings.ts';
import { resolveInRelease } from '#modules/exceptions/operations/resolve_in_release.ts';
import { undoExceptionMerges } from '#modules/exceptions/operations/undo_exception_merges.ts';
import { setExceptionSettings } from '#modules/exceptions/operations/set_exception_settings.ts';
import { setExceptionStatuses } from '#modules/exceptions/operations/set_exception_statuses.ts';
import { setMatchingStatuses } from '#modules/exceptions/operations/set_matching_statuses.ts';
import { splitExceptionGroups } from '#modules/exceptions/operations/split_exception_groups.ts';
import { splitExceptionMessage } from '#modules/exceptions/operations/split_exception_message.ts';
import { undoExceptionStatuses } from '#modules/exceptions/operations/undo_exception_statuses.ts';
import { listReleaseHealth } from '#modules/services/operations/list_release_health.ts';

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
  assignExceptions,
  getExceptionAssignment,
  setExceptionAssignment,
  snoozeExceptions,
  listExceptionActivity,
  addExceptionComment,
  editExceptionComment,
  deleteExceptionComment,
  watchException,
  setExceptionIssue,
  browseExceptionEvents,
  listExceptionUsers,
  listSavedSearches,
  saveSearch,
  deleteSavedSearch,
  mergeExceptionGroups,
  splitExceptionGroups,
  splitExceptionMessage,
  undoExceptionMerges,
] as const;
