# What is tested, and with which features, for scripts that source this: the same everywhere, so that nothing is built twice.
# Not all features of the programs: one links OpenSSL too.

# What stands on the kernels and on mapping. These two know no backend in use: the kernels' own tests run every tier.
features=(--features manyhash/digest,manyhash/map,manyhash/others,manyhash/prometheus)
above=(-p manyhash-dedupe -p manyhash-stdio -p manyhash -p manyhash-arrow -p manysum -p manyhash-cli "${features[@]}")
# What hashes by the library alone, so that another tier changes nothing but its digests, which the library's tests compare.
serving=(-p manyhash-s3 -p manyhash-s3-client -p manyhash-store -p manyhash-server)
tested=(-p manyhash-core -p manyhash-map "${serving[@]}" "${above[@]}")
