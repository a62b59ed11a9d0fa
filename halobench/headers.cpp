// Headers that are compiled once for all sources: CMakeLists.txt names them.
