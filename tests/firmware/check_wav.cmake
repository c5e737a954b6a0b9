# cmake "-DRUN=<command>" -DWRITE_WAV=<program> -DFOLDER=<folder> -P check_wav.cmake
# Checks that the keyword spotter reads 16-bit mono WAV files of at most a second at 16 kHz. For any other file, the
# program must print the error.
file(MAKE_DIRECTORY ${FOLDER})

# check(<file> <status> <text>): checks that the keyword spotter ends with <status> and prints <text> for <file>.
function(check file expected text)
  execute_process(COMMAND ${RUN} ${file} OUTPUT_VARIABLE out RESULT_VARIABLE status)
  string(FIND "${out}" "${text}" found)
  if(NOT status EQUAL expected OR found EQUAL -1)
    message(FATAL_ERROR "${file}: status ${status}, and ${expected} is expected with '${text}':\n${out}")
  endif()
endfunction()

# check_sound(<rate> <channels> <bits> <frames> <status> <text>): writes a WAV file of this format with WRITE_WAV. Then
# checks that the keyword spotter ends with <status> and prints <text> for this file.
function(check_sound rate channels bits frames expected text)
  set(file ${FOLDER}/${rate}_${channels}_${bits}_${frames}.wav)
  execute_process(COMMAND ${WRITE_WAV} ${file} ${rate} ${channels} ${bits} ${frames} COMMAND_ERROR_IS_FATAL ANY)
  check(${file} ${expected} "${text}")
endfunction()

check_sound(44100 1 16 1000 2 "has another sample rate; allowed: 16 kHz")
check_sound(16000 2 16 1000 2 "has several channels; allowed: mono")
check_sound(16000 1 8 1000 2 "does not have 16-bit samples; allowed: 16-bit PCM")
check_sound(16000 1 16 16001 2 "is longer than 1 s")
check_sound(16000 1 16 0 2 "has no samples")
check_sound(16000 1 16 100 0 "instructions for the model")
check(${CMAKE_CURRENT_LIST_FILE} 2 "is no WAV file")
check(${FOLDER}/absent.wav 2 "cannot be opened")
