/**
 * The operations that each guide of docs/integrate is about, by tag: the document of a guide holds them
 * (docs/decisions/0338). A guide without a row has no document.
 */
type OperationsByTag = Readonly<Record<string, readonly string[]>>;

const token = { Tokens: ['clientToken'] };
const findAndBook = {
  ...token,
  Slot: ['findSlotOfTypeByQuery', 'findSlotOfType', 'holdSlot', 'renewSlotOfType', 'releaseSlotOfType', 'searchSlot'],
};
const readAndWrite = ['searchPatient', 'readPatient', 'createPatient', 'updatePatient', 'patchPatient'];

export const guideOperations: Readonly<Record<string, OperationsByTag>> = {
  overview: { ...token, System: ['capabilities'], Patient: ['searchPatient', 'readPatient'] },
  'first-call': { ...token, System: ['capabilities'], Patient: ['searchPatient', 'readPatient', 'createPatient'] },
  contract: {
    Tokens: ['clientToken', 'legacyToken'],
    System: ['capabilities', 'batchOrTransaction'],
    Patient: [...readAndWrite, 'deletePatient', 'historyOfPatient', 'vreadPatient'],
  },
  tokens: {
    Tokens: [
      'clientToken',
      'introspectToken',
      'revokeToken',
      'openIdConfiguration',
      'authorizationServerMetadata',
      'jwkSet',
    ],
  },
  'move-from-legacy': { Tokens: ['clientToken', 'legacyToken'], Patient: ['searchPatient'] },
  'access-entries': { ...token, System: ['effectiveAccessSystemByQuery', 'effectiveAccessSystem'] },
  'search-and-page': { ...token, System: ['searchSystem'], Patient: ['searchPatient', 'searchPatientByForm'] },
  'follow-changes': { ...token, System: ['changesSystemByQuery', 'changesSystem'] },
  events: {
    ...token,
    Subscription: [
      'createSubscription',
      'readSubscription',
      'searchSubscription',
      'updateSubscription',
      'deleteSubscription',
      'statusSubscriptionByQuery',
      'eventsSubscriptionByQuery',
      'rotateSecretSubscription',
      'getWsBindingTokenSubscriptionByQuery',
      'receiveTopicNotification',
    ],
  },
  'bulk-export': {
    ...token,
    System: [
      'exportSystemByQuery',
      'exportStatusSystemByQuery',
      'exportStatusSystemByDelete',
      'exportFileSystemByQuery',
      'exportAttachmentSystemByQuery',
    ],
    Patient: ['exportPatientOfTypeByQuery'],
  },
  'webhook-signatures': { Subscription: ['rotateSecretSubscription', 'receiveTopicNotification'] },
  retries: { ...token, System: ['writeOutcomeSystemByQuery'], Patient: readAndWrite },
  limits: { ...token, System: ['batchOrTransaction'], Patient: ['searchPatient', 'createPatient'] },
  booking: {
    ...findAndBook,
    Appointment: [
      'bookAppointmentOfType',
      'rescheduleAppointment',
      'cancelAppointment',
      'readAppointment',
      'searchAppointment',
    ],
  },
  scheduling: {
    ...findAndBook,
    Appointment: [
      'bookAppointmentOfType',
      'rescheduleAppointment',
      'cancelAppointment',
      'checkInAppointment',
      'checkOutAppointment',
      'fulfilAppointment',
      'noShowAppointment',
      'acceptOfferAppointment',
      'declineOfferAppointment',
      'createAppointment',
      'readAppointment',
      'searchAppointment',
    ],
  },
  states: {
    ...token,
    Appointment: [
      'updateAppointment',
      'patchAppointment',
      'checkInAppointment',
      'checkOutAppointment',
      'fulfilAppointment',
      'noShowAppointment',
    ],
    Encounter: ['createEncounter', 'updateEncounter', 'patchEncounter'],
    Task: ['createTask', 'updateTask', 'patchTask'],
  },
  documents: {
    ...token,
    Binary: ['createBinary', 'readBinary'],
    Content: ['uploadContent', 'downloadContent'],
    DocumentReference: ['createDocumentReference', 'readDocumentReference', 'searchDocumentReference'],
  },
  'existing-clients': {
    Tokens: ['clientToken', 'legacyToken'],
    Patient: ['searchPatient', 'readPatient', 'updatePatient'],
    ValueSet: ['readValueSet', 'expandValueSetByQuery'],
  },
  intake: {
    ...token,
    System: ['reconciliationSystemByQuery'],
    Coverage: ['createCoverage', 'searchCoverage', 'readCoverage'],
    Task: ['readTask'],
  },
  errors: { ...token, Patient: readAndWrite },
  conformance: { System: ['capabilities'] },
};
