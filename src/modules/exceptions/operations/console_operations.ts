import {
  addExceptionComment,
  deleteExceptionComment,
  editExceptionComment,
  listExceptionActivity,
  setExceptionIssue,
  watchException,
} from '#modules/exceptions/operations/activity.ts';
import {
  assignExceptions,
  getExceptionAssignment,
  setExceptionAssignment,
} from '#modules/exceptions/operations/assignment.ts';
import { browseExceptionEvents, listExceptionUsers } from '#modules/exceptions/operations/browse_exception_events.ts';
import { deleteSavedSearch, listSavedSearches, saveSearch } from '#modules/exceptions/operations/saved_searches.ts';
import { browseExceptionGroups } from '#modules/exceptions/operations/browse_exception_groups.ts';
import { getExceptionOverview } from '#modules/exceptions/operations/get_exception_overview.ts';
import { createExceptionIssue, getExceptionIssue } from '#modules/exceptions/operations/exception_issues.ts';
import {
  createIssueTracker,
  deleteIssueTracker,
  listIssueTrackers,
  updateIssueTracker,
} from '#modules/exceptions/operations/issue_trackers.ts';
import { listEventExtras, listFeedback, readEventAttachment } from '#modules/exceptions/operations/event_extras.ts';
import {
  resolveInRelease,
  setExceptionStatuses,
  setMatchingStatuses,
  snoozeExceptions,
  undoExceptionStatuses,
} from '#modules/exceptions/operations/statuses.ts';
import { listExceptionEvents } from '#modules/exceptions/operations/list_exception_events.ts';
import { listExceptionOrigins } from '#modules/exceptions/operations/list_exception_origins.ts';
import {
  mergeExceptionGroups,
  splitExceptionGroups,
  splitExceptionMessage,
  undoExceptionMerges,
} from '#modules/exceptions/operations/merging.ts';
import { getExceptionSettings, setExceptionSettings } from '#modules/exceptions/operations/set_exception_settings.ts';
import { listReleaseHealth } from '#modules/services/operations/service_overview.ts';

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
  createExceptionIssue,
  getExceptionIssue,
  listIssueTrackers,
  createIssueTracker,
  updateIssueTracker,
  deleteIssueTracker,
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
