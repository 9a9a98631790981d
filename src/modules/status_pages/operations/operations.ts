import {
  addStatusUpdate,
  listPublications,
  publishIncident,
  retractPublication,
} from '#modules/status_pages/operations/publications.ts';
import {
  createStatusPage,
  deleteStatusPage,
  listStatusPages,
  updateStatusPage,
} from '#modules/status_pages/operations/status_pages.ts';

/** Operations of the console on status pages and what is published on them. */
export const STATUS_PAGE_OPERATIONS = [
  listStatusPages,
  createStatusPage,
  updateStatusPage,
  deleteStatusPage,
  listPublications,
  publishIncident,
  addStatusUpdate,
  retractPublication,
] as const;
