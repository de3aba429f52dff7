/** How the ids of a row are kept (migration 0037): UUIDs as such, and one patient apart from several. */
import { formatPatients, type Patients } from './audit-row.ts';

export interface NarrowRow {
  /** The id of the resource: as a UUID or, where it is none, as a text. */
  readonly uuid: string | null;
  readonly id: string | null;
  readonly requestUuid: string | null;
  readonly requestId: string | null;
  /** The one patient that the row is found by. */
  readonly patient: string | null;
  /** That patient, where it is not the resource itself. */
  readonly patientUuid: string | null;
  /** Several patients, as the literal of an array. */
  readonly patientUuids: string | null;
  /** Patients whom the columns before cannot hold. */
  readonly patients: string | null;
  /** The patients that the row is found by where they are several, as the literal of an array. */
  readonly listed: string | null;
}

/** A UUID as PostgreSQL writes it: only that comes back as it was. */
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const uuidLength = 36;

function isUuid(text: string): boolean {
  return text.length === uuidLength && uuidPattern.test(text);
}

interface RowIds {
  readonly id: string | null;
  readonly requestId: string | null;
  readonly patients: Patients | undefined;
}

export function narrowRow({ id, requestId, patients }: RowIds): NarrowRow {
  const hasUuid = id !== null && isUuid(id);
  const isRequestUuid = requestId !== null && isUuid(requestId);
  return {
    uuid: hasUuid ? id : null,
    id: hasUuid ? null : id,
    requestUuid: isRequestUuid ? requestId : null,
    requestId: isRequestUuid ? null : requestId,
    ...narrowPatients(patients, id),
  };
}

type NarrowPatients = Pick<NarrowRow, 'patient' | 'patientUuid' | 'patientUuids' | 'patients' | 'listed'>;

const noPatients: NarrowPatients = {
  patient: null,
  patientUuid: null,
  patientUuids: null,
  patients: null,
  listed: null,
};

function narrowPatients(patients: Patients | undefined, id: string | null): NarrowPatients {
  const [first, ...others] = patients?.ids ?? [];
  if (patients === undefined || first === undefined) return noPatients;
  if (others.length === 0 && !patients.more) {
    if (first === id) return { ...noPatients, patient: first };
    return isUuid(first)
      ? { ...noPatients, patient: first, patientUuid: first }
      : { ...noPatients, patient: first, patients: first };
  }
  const listed = `{${patients.ids.join(',')}}`; // ids need no quotes
  if (patients.more || !patients.ids.every(isUuid))
    return { ...noPatients, patients: formatPatients(patients), listed };
  return { ...noPatients, patientUuids: listed, listed };
}
