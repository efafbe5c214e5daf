// The messages and services that the official client ships, with its own protobuf runtime.
import { createRequire } from 'node:module'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import operations from '@eventstore/db-client/generated/operations_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import status from '@eventstore/db-client/generated/status_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'

export { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
export { OperationsService } from '@eventstore/db-client/generated/operations_grpc_pb.js'
export { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
export { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js'
export { features, gossip, operations, shared, status, streams }

// The client's copy of google-protobuf: another copy would not recognise these messages.
const require = createRequire(createRequire(import.meta.url).resolve('@eventstore/db-client/package.json'))
export const { Any }: typeof import('google-protobuf/google/protobuf/any_pb.js') = require('google-protobuf/google/protobuf/any_pb.js')
export const { Empty }: typeof import('google-protobuf/google/protobuf/empty_pb.js') = require('google-protobuf/google/protobuf/empty_pb.js')
