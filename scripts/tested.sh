# What is tested, and with which features, for scripts that source this: the same everywhere, so that nothing is built twice.
# Not all features of the programs: one links OpenSSL too.
tested=(-p manyhash-core -p manyhash-map -p manyhash-dedupe -p manyhash-stdio -p manyhash -p manyhash-arrow -p manysum -p manyhash-cli)
tested+=(--features manyhash/digest,manyhash/map,manyhash/others,manyhash/prometheus)
