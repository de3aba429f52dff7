// Resources that break an invariant, by hand: those that changed examples rarely break, and those whose verdict needs a look.
// Parts of resources only: what their structure lacks is not asked here.

/** Resource → `key path` of what it breaks. */
export const brokenByHand: readonly (readonly [resource: object, found: readonly string[]])[] = [
  [{ resourceType: 'Patient', contact: [{ gender: 'male' }] }, ['pat-1 Patient.contact[0]']],
  [
    { resourceType: 'Appointment', status: 'booked', start: '2027-01-01T10:00:00Z' },
    ['app-2 Appointment', 'app-3 Appointment'],
  ],
  [
    {
      resourceType: 'Appointment',
      status: 'proposed',
      cancelationReason: { text: 'x' },
      participant: [{ status: 'accepted' }],
    },
    ['app-4 Appointment', 'app-1 Appointment.participant[0]'],
  ],
  [
    {
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'x' },
      valueQuantity: { value: 1, code: 'mg' },
      dataAbsentReason: { text: 'none' },
      referenceRange: [{ age: { low: { value: 1 } } }],
    },
    ['obs-6 Observation', 'qty-3 Observation.value', 'obs-3 Observation.referenceRange[0]'],
  ],
  [
    {
      resourceType: 'Observation',
      code: { coding: [{ system: 's', code: 'a' }, { code: 'b' }] },
      valueString: 'x',
      component: [{ code: { coding: [{ code: 'b' }] } }],
    },
    ['obs-7 Observation'],
  ],
  [
    {
      resourceType: 'Questionnaire',
      status: 'draft',
      item: [{ linkId: '1', type: 'group', item: [{ linkId: '1', type: 'display', code: [{ code: 'x' }] }] }],
    },
    ['que-2 Questionnaire', 'que-3 Questionnaire.item[0].item[0]'],
  ],
  [
    {
      resourceType: 'Questionnaire',
      item: [{ linkId: '1', type: 'string', repeats: false, initial: [{ valueString: 'a' }, { valueString: 'b' }] }],
    },
    ['que-13 Questionnaire.item[0]'],
  ],
  [
    {
      resourceType: 'Questionnaire',
      item: [{ linkId: '1', type: 'string', enableWhen: [{ operator: 'exists', answerString: 'x' }] }],
    },
    ['que-7 Questionnaire.item[0].enableWhen[0]'],
  ],
  [
    {
      resourceType: 'Bundle',
      type: 'batch',
      total: 1,
      entry: [{ resource: { resourceType: 'Patient', contact: [{ gender: 'male' }] } }],
    },
    ['bdl-1 Bundle', 'bdl-3 Bundle', 'pat-1 Bundle.entry[0].resource.contact[0]'],
  ],
  [
    {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [
        { fullUrl: 'http://x/Patient/1', resource: { resourceType: 'Patient' } },
        { fullUrl: 'http://x/Patient/1', resource: { resourceType: 'Patient' } },
        { fullUrl: 'http://x/Patient/1/_history/1', resource: { resourceType: 'Patient' } },
      ],
    },
    ['bdl-7 Bundle', 'bdl-8 Bundle.entry[2]'],
  ],
  [
    { resourceType: 'Bundle', type: 'document', entry: [{ resource: { resourceType: 'Patient' } }] },
    ['bdl-9 Bundle', 'bdl-10 Bundle', 'bdl-11 Bundle'],
  ],
  [{ resourceType: 'Bundle', type: 'message', entry: [{ resource: { resourceType: 'Patient' } }] }, ['bdl-12 Bundle']],
  [
    {
      resourceType: 'CareTeam',
      contained: [
        { resourceType: 'Practitioner', id: 'p' },
        { resourceType: 'Patient', id: 'q' },
      ],
      participant: [
        { member: { reference: '#p' }, onBehalfOf: { reference: 'Organization/1' } },
        { member: { reference: '#q' }, onBehalfOf: { reference: 'Organization/1' } },
        { member: { reference: 'Patient/1' }, onBehalfOf: { reference: 'Organization/1' } },
        { member: { display: 'someone' }, onBehalfOf: { reference: 'Organization/1' } },
      ],
    },
    ['ctm-1 CareTeam.participant[1]', 'ctm-1 CareTeam.participant[2]'],
  ],
  [
    {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [
        { fullUrl: 'urn:uuid:1', resource: { resourceType: 'Practitioner' } },
        { fullUrl: 'urn:uuid:2', resource: { resourceType: 'Patient' } },
        {
          resource: {
            resourceType: 'CareTeam',
            participant: ['urn:uuid:1', 'urn:uuid:2'].map((reference) => ({
              member: { reference },
              onBehalfOf: { reference: 'Organization/1' },
            })),
          },
        },
      ],
    },
    ['ctm-1 Bundle.entry[2].resource.participant[1]'],
  ],
  // Contained resources are judged, but need no narrative; so are extensions of primitives.
  [
    {
      resourceType: 'Basic',
      text: { status: 'generated', div: '<div>x</div>' },
      contained: [{ resourceType: 'Patient', id: 'p', contact: [{}] }],
      created: '2027-01-01',
      _created: { extension: [{ url: 'urn:x:y', valueQuantity: { code: 'mg' } }] },
    },
    ['pat-1 Basic.contained[0].contact[0]', 'qty-3 Basic.created.extension[0].value'],
  ],
  [
    {
      resourceType: 'CapabilityStatement',
      kind: 'capability',
      software: {},
      rest: [{ resource: [{ type: 'Patient' }, { type: 'Patient' }] }],
    },
    ['cpb-9 CapabilityStatement.rest[0]'],
  ],
  [
    {
      resourceType: 'CapabilityStatement',
      kind: 'requirements',
      document: [
        { profile: 'p', mode: 'm' },
        { profile: 'p', mode: 'm' },
      ],
    },
    ['cpb-2 CapabilityStatement', 'cpb-7 CapabilityStatement'],
  ],
  [
    { resourceType: 'ConceptMap', group: [{ unmapped: { mode: 'other-map' } }] },
    ['cmd-3 ConceptMap.group[0].unmapped'],
  ],
  [
    {
      resourceType: 'ConceptMap',
      group: [{ element: [{ target: [{ equivalence: 'narrower' }, { equivalence: 'equal' }] }] }],
    },
    ['cmd-1 ConceptMap.group[0].element[0].target[0]'],
  ],
  [
    {
      resourceType: 'Condition',
      abatementDateTime: '2027',
      clinicalStatus: { coding: [{ code: 'active' }] },
      stage: [{}],
      evidence: [{}],
    },
    ['con-4 Condition', 'con-1 Condition.stage[0]', 'con-2 Condition.evidence[0]'],
  ],
  [
    {
      resourceType: 'Consent',
      policy: [{}],
      scope: {
        coding: [
          { system: 'something', code: 'adr' },
          { system: 'something', code: 'treatment' },
        ],
      },
    },
    ['ppc-4 Consent', 'ppc-5 Consent'],
  ],
  [
    {
      resourceType: 'Consent',
      policy: [{}],
      scope: {
        coding: [
          { system: 'something', code: 'patient-privacy' },
          { system: 'something', code: 'research' },
        ],
      },
    },
    ['ppc-2 Consent', 'ppc-3 Consent'],
  ],
  [{ resourceType: 'Immunization', education: [{}] }, ['imm-1 Immunization.education[0]']],
  [{ resourceType: 'MedicationAdministration', dosage: { text: 'x' } }, ['mad-1 MedicationAdministration.dosage']],
  [{ resourceType: 'MessageDefinition', focus: [{ max: '0' }, { max: '*' }] }, ['md-1 MessageDefinition.focus[0]']],
  [
    {
      resourceType: 'NamingSystem',
      kind: 'root',
      uniqueId: [
        { type: 'uuid', preferred: true },
        { type: 'uuid', preferred: true },
      ],
    },
    ['nsd-1 NamingSystem', 'nsd-2 NamingSystem'],
  ],
  [
    {
      resourceType: 'Organization',
      name: 'x',
      telecom: [{ use: 'home' }],
      address: [{ use: 'work' }, { use: 'home' }],
    },
    ['org-3 Organization.telecom[0]', 'org-2 Organization.address[1]'],
  ],
  [
    {
      resourceType: 'StructureDefinition',
      type: 'Extension',
      derivation: 'constraint',
      baseDefinition: 'http://x',
      kind: 'complex-type',
      snapshot: {
        element: [
          { id: 'a', path: 'Extension', min: 2, max: '1', definition: 'd', base: {}, type: [{ code: 'a' }] },
          {
            id: 'a',
            path: 'Extension.x',
            min: 0,
            max: '-1',
            definition: 'd',
            base: {},
            binding: { strength: 'required' },
          },
          {
            id: 'c',
            path: 'Other.',
            min: 0,
            max: '*',
            definition: 'd',
            base: {},
            binding: { valueSet: 'x:y' },
            type: [{ code: 'b' }],
          },
        ],
      },
    },
    [
      'sdf-5 StructureDefinition',
      'sdf-15 StructureDefinition',
      'sdf-16 StructureDefinition',
      'sdf-8 StructureDefinition.snapshot',
      'eld-2 StructureDefinition.snapshot.element[0]',
      'eld-2 StructureDefinition.snapshot.element[1]',
      'eld-3 StructureDefinition.snapshot.element[1].max',
      'sdf-10 StructureDefinition.snapshot.element[1]',
      'eld-12 StructureDefinition.snapshot.element[2].binding',
    ],
  ],
  [
    {
      resourceType: 'StructureDefinition',
      kind: 'logical',
      abstract: true,
      derivation: 'specialization',
      snapshot: {
        element: ['A', 'A'].map((path, index) => ({
          id: String(index),
          path,
          min: 0,
          max: '*',
          definition: 'd',
          base: {},
        })),
      },
    },
    ['sdf-1 StructureDefinition', 'sdf-8 StructureDefinition.snapshot'],
  ],
  [
    {
      resourceType: 'StructureDefinition',
      kind: 'logical',
      abstract: true,
      differential: { element: [{ id: 'a', path: '?' }] },
    },
    ['eld-19 StructureDefinition.differential.element[0]'],
  ],
  [
    { resourceType: 'TerminologyCapabilities', description: 'x', codeSystem: [{ version: [{ code: '1' }, {}] }] },
    ['tcp-1 TerminologyCapabilities.codeSystem[0]'],
  ],
  [
    {
      resourceType: 'TestScript',
      metadata: { capability: [{}] },
      setup: { action: [{ operation: { type: { code: 'read' } } }] },
      test: [{ action: [{ operation: { type: { code: 'read' } } }] }],
      teardown: { action: [{ operation: { type: { code: 'read' }, targetId: 'x', url: 'y' } }] },
    },
    [
      'tst-4 TestScript.metadata',
      'tst-7 TestScript.setup.action[0].operation',
      'tst-7 TestScript.teardown.action[0].operation',
      'tst-7 TestScript.test[0].action[0].operation',
      'tst-8 TestScript.test[0].action[0].operation',
      'tst-9 TestScript.teardown.action[0].operation',
    ],
  ],
  [
    {
      resourceType: 'ServiceRequest',
      orderDetail: [{ text: 'x' }],
      occurrenceTiming: { repeat: { offset: 1, when: ['ACM', 'CM'] } },
    },
    ['prr-1 ServiceRequest', 'tim-9 ServiceRequest.occurrence.repeat'],
  ],
  [
    {
      resourceType: 'RiskAssessment',
      prediction: [{ probabilityDecimal: 100.5 }, { probabilityRange: { high: { value: 1, code: 'x' } } }],
    },
    [
      'ras-2 RiskAssessment.prediction[0]',
      'ras-1 RiskAssessment.prediction[1].probability',
      'qty-3 RiskAssessment.prediction[1].probability.high',
    ],
  ],
];
